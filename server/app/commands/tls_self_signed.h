#pragma once

#include <string>

#include "core/base/result.h"
#include "core/base/time.h"
#include "server/app/commands/command.h"

namespace stepscope {

// An authority where the folder has none, and a certificate of it for the service. Returns what to
// tell the user: files, and the next commands to type. Conflict when a file is there already.
Result<std::string> MakeSelfSigned(Words words, Time now);

}  // namespace stepscope
