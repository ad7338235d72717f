#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/collect/collector.h"

namespace stepscope {

// How a core spent its time since the start of the node, in ticks of the kernel.
struct CpuTimes {
  std::uint64_t total = 0;
  std::uint64_t idle = 0;
  std::uint64_t iowait = 0;
  std::uint64_t user = 0;  // with nice
  std::uint64_t steal = 0;
};

// Shares of an interval. The rest of the use beside user and steal is the system's: calls, faults,
// interrupts.
struct CpuShares {
  double util_percent = 0;
  double iowait_percent = 0;
  double user_percent = 0;
  double system_percent = 0;
  double steal_percent = 0;
};

// Parses a line of /proc/stat such as "cpu3 4705 356 584 3699 23 23 0 0 0 0"; `core` is -1 for the
// sum of all. Nothing for any other line.
std::optional<CpuTimes> ParseCpuLine(std::string_view line, int& core);

// Nothing when no time passed or a counter ran backwards, which the kernel's I/O wait does.
std::optional<CpuShares> CpuSharesBetween(const CpuTimes& before, const CpuTimes& now);

// Collects each core and their mean, and switches between tasks. Nodes with up to kMostSplitCores
// have the parts of each core's use, too.
Result<std::unique_ptr<Collector>> MakeCpuCollector(const std::string& root, TickRow& row);

inline constexpr int kMostSplitCores = 32;

}  // namespace stepscope
