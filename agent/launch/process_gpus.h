#pragma once

#include <string>
#include <vector>

#include "agent/collect/gpu_values.h"
#include "agent/launch/launcher.h"

namespace stepscope {

// The GPUs of its node that a process may use: those that Slurm or its container gave it, of which
// CUDA's variable names a part, else those that each vendor's variables name. `visible` is the
// CUDA_VISIBLE_DEVICES that it has now, HIP_VISIBLE_DEVICES where its PyTorch is AMD's; the first
// word that is no GPU of NVIDIA ends the list. Where none is named, or one that another variable
// names does not exist, all that it may open (OpenableGpus), which the vendors' numbers count.
std::vector<std::string> GpusOfProcess(const Environment& environment, const std::string& visible,
                                       const std::vector<GpuFacts>& gpus,
                                       const std::vector<GpuFacts>& openable);

}  // namespace stepscope
