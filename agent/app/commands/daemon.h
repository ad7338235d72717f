#pragma once

#include "agent/app/options/daemon_options.h"

namespace stepscope {

// Serves the jobs of this node until it is told to end. Returns the exit code.
int RunDaemon(const DaemonOptions& options);

}  // namespace stepscope
