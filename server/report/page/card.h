#pragma once

#include <string>

#include "server/report/page/report.h"

namespace stepscope {

// The card of a job: its story in about 25 lines for a terminal or a mail. Lines are broken at 78
// columns where there is a blank.
// Text from outside comes without control characters. What is not known is left out or said.
std::string ToCard(const Report& report);

}  // namespace stepscope
