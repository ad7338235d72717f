#pragma once

#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// An error of a session whose tables Citus spreads over machines. What a machine said arrives with
// another state at times, and may name its address and role, which nobody outside needs to know:
// they are left out. `said` is one line.
Error CitusError(std::string_view sqlstate, std::string_view said);

}  // namespace stepscope
