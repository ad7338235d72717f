#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/collect/gpu_values.h"
#include "agent/launch/launcher.h"
#include "core/base/result.h"

namespace stepscope {

// What a process was started with, as /proc shows it: nothing where it is gone, or another user's
// and this one is not root.
struct ProcessStart {
  std::vector<std::string> command{};
  Environment environment = [](std::string_view) { return std::string(); };
};

ProcessStart ReadProcessStart(const std::string& root, std::int64_t pid);

// The job of a process: what it said itself, else STEPSCOPE_JOB, else its launcher. Invalid, with
// the way out, when nobody says one, and for a name that no job can have.
struct JobNames {
  std::string job{}, group{};
};
Result<JobNames> NamesOfProcess(const std::string& said, const Environment& environment);

// The GPUs that a process may use, of those of its node: what the batch system or the container
// gave it, else what each vendor's variables say, of which `visible` is its CUDA_VISIBLE_DEVICES.
// All of them when nobody says, or names what is not there.
std::vector<std::string> GpusOfProcess(const Environment& environment, const std::string& visible,
                                       const std::vector<GpuFacts>& gpus);

// What is to be said of KINETO_USE_DAEMON, which lets PyTorch look for the daemon of another
// profiler; "" where it is off.
std::string KinetoNote(const Environment& environment);

}  // namespace stepscope
