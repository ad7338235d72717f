#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// Kernels of a trace by name, those that communicate included; times in nanoseconds.
struct KernelRow {
  std::string name, launched_by;  // the operator that launched most of its time; "" unknown
  std::uint64_t calls = 0;
  std::int64_t total_ns = 0, min_ns = 0, max_ns = 0;
  double occupancy_percent = -1;  // theoretical, weighted by time; -1: not said
  std::string_view precision;     // by its name, else by its operators' inputs; "" unknown
  bool communicates = false;
};
struct KernelTable {
  std::vector<KernelRow> rows;               // the longest total first
  std::uint64_t calls = 0, short_calls = 0;  // short: below 10 us
  std::int64_t total_ns = 0;                 // sum of durations, not of a union
};
inline constexpr std::int64_t kShortKernelNs = 10'000;

KernelTable MakeKernelTable(const TraceLinks& links);
OrderedJson ToJson(const KernelTable& table);

}  // namespace stepscope
