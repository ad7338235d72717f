#pragma once

#include "server/app/commands/command.h"

namespace stepscope {

// stepscope-server dump FILE: the database as one file, while the service runs or not.
int RunDump(Words words);

}  // namespace stepscope
