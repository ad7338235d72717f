#pragma once

#include "server/app/commands/command.h"

namespace stepscope {

// stepscope-server report JOB: the report of a job on standard output, while the service runs or
// not.
int RunReport(Words words, std::string_view version);

// stepscope-server card JOB: the same in a few lines of text.
int RunCard(Words words, std::string_view version);

}  // namespace stepscope
