#pragma once

#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// What the caller can do about an error of PostgreSQL.
Code CodeOf(std::string_view sqlstate);

}  // namespace stepscope
