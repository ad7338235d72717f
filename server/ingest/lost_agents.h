#pragma once

#include <cstdint>
#include <string>

#include "core/base/time.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Ends jobs whose nodes were all silent for so long: Failed, secondary status Interrupted, one
// event. Called by housekeeping. Says how many.
Result<int> MarkLostAgents(Connection& connection, Duration lost_after, std::int64_t now_us,
                           const std::string& public_url);

}  // namespace stepscope
