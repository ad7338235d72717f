#pragma once

#include <string>

#include "core/base/result.h"
#include "core/base/time.h"
#include "server/app/commands/command.h"

namespace stepscope {

// "stepscope-server tls self-signed|agent-cert ...": certificates for a first set-up, made by an
// authority of one's own. Returns the exit code.
int RunTls(Words words);

// What the commands do, and what they say: files, and the next commands to type. Conflict when a
// file is there already.
Result<std::string> MakeSelfSigned(Words words, Time now);
Result<std::string> MakeAgentCert(Words words, Time now);

}  // namespace stepscope
