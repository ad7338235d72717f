#pragma once

#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// The code that tells a caller what to do about an error of PostgreSQL.
Code CodeOf(std::string_view sqlstate);

}  // namespace stepscope
