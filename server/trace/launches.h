#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// How the host kept the devices busy: calls of the runtime, and how long work waited behind them.
struct LaunchCall {
  std::string name;
  std::uint64_t calls = 0;
  std::int64_t total_ns = 0, max_ns = 0;
};
struct LaunchTable {
  std::vector<LaunchCall> calls;        // by name, the longest total first
  std::vector<std::int64_t> delays_ns;  // from the begin of a launch to that of its kernel, sorted
  std::uint64_t kernels = 0, short_kernels = 0, unlinked = 0;  // unlinked: launched out of sight
  std::uint64_t in_graphs = 0, graph_launches = 0;  // kernels of graphs, and launches of graphs
  std::int64_t sync_ns = 0, copy_call_ns = 0;  // host time in calls that synchronize, that copy
  std::int64_t late_ns = 0, device_ns = 0;     // idle since the host was late; time of all devices
  std::size_t steps = 0;
  bool lacks_work = false;  // work was launched, and none of it recorded
};

LaunchTable MakeLaunchTable(const TraceLinks& links);
OrderedJson ToJson(const LaunchTable& table);

// The value at a share of sorted ones, between two of them in proportion; 0 of none.
double QuantileOf(const std::vector<std::int64_t>& sorted, double share);

}  // namespace stepscope
