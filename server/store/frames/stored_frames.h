#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/table.h"
#include "core/wire/frame.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Frames of one node or rank as they lie in the database, for the readers of series.
struct FrameQuery {
  std::int64_t job_id = 0;
  FrameKind kind = FrameKind::kTicks;
  std::optional<std::int64_t> node_id;
  std::vector<std::int64_t> ranks;    // empty = all
  std::int64_t after_us = 0;          // a frame counts when it has a row later than this ...
  std::int64_t until_us = INT64_MAX;  // ... and a row not later than this
};

struct FrameKey {
  std::int64_t node_id = 0, rank = 0, from_us = 0, to_us = 0, rows = 0, sequence = 0;
  std::int64_t schema_hash = 0;
  bool clock_suspect = false;
  std::string session;
};
// In the order of their first rows, up to a limit.
inline constexpr std::size_t kMostFramesListed = 500'000;
Result<std::vector<FrameKey>> ListFrames(Connection& connection, const FrameQuery& query);

// The error of a reader that needs all frames when the list is full. Reading later, or less, works.
Error TooManyFrames();

// Chooses the oldest frames that have `most_rows` rows together, and the time up to which they are
// all there is: a frame that was not chosen, or is behind the end of a full list, may start at
// `complete_before_us`. At least as many as it takes to move forward.
struct FrameChoice {
  std::size_t count = 0;
  std::int64_t complete_before_us = INT64_MAX;
  bool all = true;  // no frame is left
};
FrameChoice ChooseFrames(const std::vector<FrameKey>& keys, std::size_t most_rows,
                         std::int64_t after_us);

// Deletes the frames that still exist, in the caller's transaction; returns how many.
Result<std::size_t> DeleteFrames(Connection& connection, std::int64_t job_id,
                                 const std::vector<FrameKey>& keys, std::size_t count);

using Schemas = std::map<std::int64_t, Schema>;  // by hash
Result<Schemas> LoadSchemas(Connection& connection, std::int64_t job_id,
                            const std::set<std::int64_t>& hashes);
// The schemas that the first keys name.
Result<Schemas> LoadSchemas(Connection& connection, std::int64_t job_id,
                            const std::vector<FrameKey>& keys, std::size_t count);

// Calls `take` for each of the first keys, some hundred payloads in memory at once. The schema is
// null where it is not stored, the payload "" where the frame is gone. Ends with its first error.
using TakeFrame = std::function<Status(const Schema* schema, const std::string& payload)>;
Status ForEachFrame(Connection& connection, std::int64_t job_id, const std::vector<FrameKey>& keys,
                    std::size_t count, const Schemas& schemas, const TakeFrame& take);

}  // namespace stepscope
