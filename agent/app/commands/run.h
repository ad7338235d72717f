#pragma once

#include "agent/app/options/run_options.h"

namespace stepscope {

// Starts the command, profiles it until it ends, delivers what is left, and returns the exit code
// that a shell would give. The service and everything else that may fail never fails the command.
// Called by main before any thread exists.
int RunCommand(const RunOptions& options);

}  // namespace stepscope
