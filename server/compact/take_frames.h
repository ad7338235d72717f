#pragma once

#include <functional>
#include <string>
#include <vector>

#include "server/store/frames/stored_frames.h"
#include "server/store/retention/compact_tasks.h"

namespace stepscope {

// The frames that a transaction compacting steps or annotations of a rank chooses from.
Result<std::vector<FrameKey>> ListRankFrames(Connection& connection, std::int64_t job_id,
                                             const RankOfNode& rank, FrameKind kind);

// Calls `take` for each of the first `count` keys, and deletes these frames: all of them, or an
// error. Conflict when one is gone, since somebody else compacts them.
using TakeWhole = std::function<Status(const std::string& payload, const Schema& schema)>;
Status TakeFrames(Connection& connection, std::int64_t job_id, const std::vector<FrameKey>& keys,
                  std::size_t count, const Schemas& schemas, const TakeWhole& take);
// Also passes the schemas that the frames need, which are loaded for some hundred frames at a time.
Status TakeFrames(Connection& connection, std::int64_t job_id, const std::vector<FrameKey>& keys,
                  std::size_t count, const TakeWhole& take);

}  // namespace stepscope
