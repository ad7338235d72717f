#pragma once

#include <string>

#include "agent/send/uplink.h"
#include "core/base/clock.h"

namespace stepscope {

// The name for a run that was asked to be called `job`: this one, or where a job of this name has
// ended, the first of NAME-2, NAME-3 and so on that no ended job has. All nodes of a run find the
// same one, as a name whose job goes on counts as free. Asks the service, for at most half a second
// in all; where that does not answer, or does not let the agent read, the name stays.
std::string FreeJobName(const UplinkOptions& options, const std::string& job, const Clock& clock);

}  // namespace stepscope
