#pragma once

#include <string>

#include "core/base/result.h"
#include "core/base/time.h"
#include "server/app/commands/command.h"

namespace stepscope {

// A certificate of the authority in the folder for the agents of a node. Returns what to tell the
// user: files, and the next commands to type. Conflict when a file is there already.
Result<std::string> MakeAgentCert(Words words, Time now);

}  // namespace stepscope
