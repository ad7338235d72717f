#pragma once

#include "server/app/commands/command.h"

namespace stepscope {

// stepscope-server dump FILE: the database as one file, while the service runs or not.
int RunDump(Words words);

// stepscope-server restore FILE: the same back, into an empty database.
int RunRestore(Words words);

}  // namespace stepscope
