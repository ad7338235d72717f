#pragma once

#include "server/app/commands/command.h"

namespace stepscope {

// "stepscope-server tls self-signed|agent-cert ...": certificates for a first set-up, made by an
// authority of one's own. Returns the exit code.
int RunTls(Words words);

}  // namespace stepscope
