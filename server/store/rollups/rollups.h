#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"
#include "server/store/rollups/roll_up.h"
#include "server/store/ticks/tick_table.h"

namespace stepscope {

struct RollupKey {
  std::int64_t bin_us = 0;
  std::string metric;
  std::int64_t chunk_us = 0;

  auto operator<=>(const RollupKey&) const = default;
};
struct StoredRollup {
  RollupKey key;
  TickTable bins;
};
// The rollups of these keys that exist, locked until the caller's transaction ends.
Result<std::vector<StoredRollup>> LockRollups(Connection& connection, std::int64_t job_id,
                                              std::int64_t node_id,
                                              std::span<const RollupKey> keys);
// The memory that LockRollups of these keys takes, about.
Result<std::size_t> MeasureRollups(Connection& connection, std::int64_t job_id,
                                   std::int64_t node_id, std::span<const RollupKey> keys);
// Writes rollups, after MarkStale (job_rollups.h). Schemas are saved as SaveBlocks does.
Status SaveRollups(Connection& connection, Connection& schemas, std::int64_t job_id,
                   std::int64_t node_id, std::span<const StoredRollup> rollups);

struct RollupQuery {
  std::int64_t job_id = 0;
  std::vector<std::int64_t> node_ids;  // empty = all
  std::int64_t bin_us = 0;             // a level's
  std::int64_t from_us = 0, until_us = INT64_MAX;
  TickFilter filter;
  std::vector<std::int64_t> chunks_us = {};  // only these chunks; empty = all
  bool means = false;                        // without least and greatest
};
// The bins of some chunks that a query needs, of one node and metric, in the order of time.
struct NodeRollup {
  std::int64_t node_id = 0;
  std::string metric;
  TickTable bins;
};
// Calls `take` with one rollup after the other, by metric, node and time: decoded, the rollups of a
// large job take ten times the memory. Many take several statements: call it in a snapshot.
// Invalid, with a way out, when they are more than one answer is made of. An error that `take`
// returns ends it.
inline constexpr std::size_t kMostRollups = 200'000;
Error TooManyRollups();
using TakeRollup = std::function<Status(NodeRollup)>;
Status ForEachRollup(Connection& connection, const RollupQuery& query, const TakeRollup& take);
// The rollups of one metric and chunk, of up to 10,000 nodes, by node.
Status ForEachRollupOf(Connection& connection, std::int64_t job_id, const RollupKey& key,
                       const std::vector<std::int64_t>& node_ids, const TakeRollup& take);

}  // namespace stepscope
