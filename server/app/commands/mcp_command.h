#pragma once

#include "server/app/commands/command.h"

namespace stepscope {

// stepscope-server mcp: a program for assistants, which ask about jobs over standard input and
// output. It reads a service over HTTP, with a token of the role reader where one is demanded.
int RunMcp(Words words, std::string_view version);

}  // namespace stepscope
