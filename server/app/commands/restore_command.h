#pragma once

#include "server/app/commands/command.h"

namespace stepscope {

// stepscope-server restore FILE: fills an empty database from a file that `dump` wrote.
int RunRestore(Words words);

}  // namespace stepscope
