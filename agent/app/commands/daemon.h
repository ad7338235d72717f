#pragma once

#include "agent/app/options/daemon_options.h"

namespace stepscope {

// Serves the jobs of this node until a signal ends it. Returns the exit code.
int RunDaemon(const DaemonOptions& options);

}  // namespace stepscope
