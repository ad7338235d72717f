#pragma once

#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// The code that tells a caller what to do about an error of PostgreSQL.
Code CodeOf(std::string_view sqlstate);

// Whether a statement waited for a row or table that another transaction holds, for as long as it
// may: the message of such an error ends with its state.
bool IsLockTimeout(const Error& error);

}  // namespace stepscope
