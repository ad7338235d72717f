#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"
#include "server/store/rollups/rollup_fold.h"

namespace stepscope {

// Rollups folded over all nodes and devices of a job: made from the nodes' rollups, and stale as
// soon as one of these changes.

// Marks rows stale in the caller's transaction because the nodes' rollups change, and locks them
// until it ends, so that nobody folds meanwhile.
Status MarkStale(Connection& connection, std::int64_t job_id, std::span<const RollupKey> keys);

// Whether a job has stale rows.
Result<bool> HasStale(Connection& connection, std::int64_t job_id);

// Up to `most` stale rows of one level and chunk, locked until the caller's transaction ends. Empty
// when nothing is stale, or when stale rows are locked by somebody else (`more`).
struct StaleRollups {
  std::vector<RollupKey> keys;
  bool more = false;
};
Result<StaleRollups> LockStale(Connection& connection, std::int64_t job_id, std::int64_t most);

// Writes rows, which are then no longer stale. For a row without bins, readers take the nodes'
// rollups.
Status SaveJobRollups(Connection& connection, std::int64_t job_id,
                      std::span<const FoldedRollup> rollups);

// The rows that a query needs, as ForEachRollup gives them, by metric and time. For a row without
// bins the nodes' rollups have to be read. Internal names a row that cannot be read.
using TakeFolded = std::function<Status(FoldedRollup)>;
Status ForEachJobRollup(Connection& connection, const RollupQuery& query, const TakeFolded& take);

}  // namespace stepscope
