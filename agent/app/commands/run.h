#pragma once

#include "agent/app/options/run_options.h"

namespace stepscope {

// Starts the command, profiles it until it ends, delivers the remaining frames, and returns the
// command's exit code; where a signal ended the command, it ends this process, too. No failure of
// the service or of the agent fails the command. Called by main before any thread exists.
int RunCommand(const RunOptions& options);

}  // namespace stepscope
