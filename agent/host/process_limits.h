#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/cgroup_files.h"

namespace stepscope {

// What processes may use of their machine.
struct ProcessLimits {
  unsigned cores = 0;                 // by affinity, cpuset and quota, rounded up; 0: not known
  std::optional<double> cpu_quota{};  // CPU time, in cores, of the smallest quota
  std::optional<std::uint64_t> memory_bytes{};  // the smallest limit of their control groups

  bool operator==(const ProcessLimits&) const = default;
};

// The cores that any thread of these processes may run on, and the limits of the first one's
// control group and of those above it.
ProcessLimits ReadProcessLimits(const std::string& root, const std::vector<std::int64_t>& pids,
                                CgroupTop top);

}  // namespace stepscope
