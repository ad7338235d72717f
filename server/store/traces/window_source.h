#pragma once

#include <cstdint>
#include <string>

#include "server/store/postgres/database.h"

namespace stepscope {

// Where the spans of a window come from: "asked", "operators" or "trace". NotFound without a
// window.
Result<std::string> FindWindowSource(Connection& connection, std::int64_t job_id,
                                     std::int64_t window_id);

}  // namespace stepscope
