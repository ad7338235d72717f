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
  std::int64_t pid = 0;  // in our PID namespace; 0 when it is not visible there

  bool operator==(const TrainingProcess&) const = default;
};

// Replaces the content of `training`. Called now and then, by the sampling thread. If several
// processes have one device, the first counts.
using ListTraining = std::function<void(std::vector<TrainingProcess>& training)>;

// Adds the processes that hold memory of GPUs; called like ListTraining.
using ListGpuProcesses = std::function<void(SteadyTime now, std::vector<GpuProcess>& processes)>;

// Collects the processes of the ranks of one job: the use of the training thread at each tick and
// its state every second, all processes every 2 s, their bytes every 4 s, new processes every 5 s,
// all but the first less often from 32 processes on. Objects that `list` and `list_gpu` use outlive
// the collector.
std::unique_ptr<Collector> MakeProcessCollector(const std::string& root, ListTraining list,
                                                ListGpuProcesses list_gpu = nullptr);

}  // namespace stepscope
