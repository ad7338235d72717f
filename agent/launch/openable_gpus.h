#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/collect/gpu_values.h"

namespace stepscope {

// The GPUs of a node whose device files a process may open: a container has those of its own GPUs
// in /dev, and a control group of devices refuses others. `pid` 0 is this process, of which both
// are known, and of another one what its /dev has. A GPU counts where nothing is known of its file.
std::vector<GpuFacts> OpenableGpus(const std::string& root, std::int64_t pid,
                                   const std::vector<GpuFacts>& gpus);

}  // namespace stepscope
