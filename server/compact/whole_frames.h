#pragma once

#include <functional>
#include <string>
#include <vector>

#include "server/store/stored_frames.h"

namespace stepscope {

// Calls `take` for each of the first keys: all of them, or an error, since they are about to be
// deleted. Conflict (kTaken) when one is gone.
using TakeWhole = std::function<Status(const std::string& payload, const Schema& schema)>;
Status ForEachWholeFrame(Connection& connection, std::int64_t job_id,
                         const std::vector<FrameKey>& keys, std::size_t count,
                         const Schemas& schemas, const TakeWhole& take);

}  // namespace stepscope
