#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/collect/collector.h"

namespace stepscope {

// A process whose tree is to be sampled, and the device of its series: "rank0".
struct TrainingProcess {
  std::string device;
  std::int64_t pid = 0;  // as this process sees it; 0 when it cannot

  bool operator==(const TrainingProcess&) const = default;
};

// Replaces what is in `training`. Asked now and then, by the sampling thread. Of several with one
// device the first counts.
using ListTraining = std::function<void(std::vector<TrainingProcess>& training)>;

// Adds the processes that hold memory of GPUs; asked as `list` is.
using ListGpuProcesses = std::function<void(SteadyTime now, std::vector<GpuProcess>& processes)>;

// The processes of the ranks of one job: the use of the training thread at each tick and its state
// every second, all of its processes every 2 s, their bytes every 4 s, new ones found every 5 s,
// all but the first more seldom from 32 processes on. What `list` and `list_gpu` use outlives it.
std::unique_ptr<Collector> MakeProcessCollector(const std::string& root, ListTraining list,
                                                ListGpuProcesses list_gpu = nullptr);

}  // namespace stepscope
