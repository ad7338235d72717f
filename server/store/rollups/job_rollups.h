#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"
#include "server/store/rollups/rollup_fold.h"

namespace stepscope {

// Rollups folded over all nodes and devices of a job, made from those of the nodes and stale as
// soon as one of these changes.

// Says, in the caller's transaction, that the nodes' rollups change; holds the rows until it ends,
// so that nobody folds meanwhile.
Status MarkStale(Connection& connection, std::int64_t job_id, std::span<const RollupKey> keys);

// Whether a job has stale rows.
Result<bool> HasStale(Connection& connection, std::int64_t job_id);

// Up to `most` stale rows of one level and chunk, locked until the caller's transaction ends; none
// when nothing is stale, or what was is somebody else's by now (`more`).
struct StaleRollups {
  std::vector<RollupKey> keys;
  bool more = false;
};
Result<StaleRollups> LockStale(Connection& connection, std::int64_t job_id, std::int64_t most);

// Writes rows, which are stale no more. One without bins leaves its readers with the nodes'
// rollups.
Status SaveJobRollups(Connection& connection, std::int64_t job_id,
                      std::span<const FoldedRollup> rollups);

// The rows that a query needs, as ForEachRollup gives them, in the order of metric and time.
// Without bins: the nodes' rollups tell. Internal names a row that cannot be read.
using TakeFolded = std::function<Status(FoldedRollup)>;
Status ForEachJobRollup(Connection& connection, const RollupQuery& query, const TakeFolded& take);

}  // namespace stepscope
