#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/launch/launcher.h"
#include "core/base/result.h"

namespace stepscope {

// How a process was started, read from /proc: nothing where it is gone, or another user's and this
// one is not root. A list of GPUs that is set and empty is "-1" in its environment.
struct ProcessStart {
  std::vector<std::string> command{};
  Environment environment = [](std::string_view) { return std::string(); };
};

ProcessStart ReadProcessStart(const std::string& root, std::int64_t pid);

// A variable of this process's environment, as its children have it; like ProcessStart's.
std::string OwnVariable(std::string_view name);

// The job of a process: the name that it gave itself, else STEPSCOPE_JOB, else its launcher's.
// Invalid, with the remedy, when there is none, and for a name that no job can have.
struct JobNames {
  std::string job{}, group{};
};
Result<JobNames> NamesOfProcess(const std::string& said, const Environment& environment);

// A warning about KINETO_USE_DAEMON, which lets PyTorch look for the daemon of another profiler; ""
// where it is off.
std::string KinetoNote(const Environment& environment);

}  // namespace stepscope
