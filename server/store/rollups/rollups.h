#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"
#include "server/store/ticks/tick_table.h"

namespace stepscope {

// Rollups: count, least, greatest and sum of the values of one metric of one node, all its devices,
// in bins of fixed width. A row of the table holds the bins of one chunk of time. As a TickTable,
// each device has the series kCount, kLeast, kGreatest and kSum; at_us is the begin of the bin.

inline constexpr char kCount[] = "count", kLeast[] = "min", kGreatest[] = "max", kSum[] = "sum";

struct RollupLevel {
  std::int64_t bin_us = 0;
  std::int64_t chunk_us = 0;  // width of the time that one row holds
};
// From the finest on; each divides the next, and a window of blocks divides each chunk.
inline constexpr RollupLevel kRollupLevels[] = {
    {10'000'000, 3'600'000'000}, {60'000'000, 21'600'000'000}, {600'000'000, 172'800'000'000}};

// The coarsest level with bins that are not wider than wanted; null when all are.
const RollupLevel* LevelFor(std::int64_t bin_us);

// Begin of the row of a level that a time lies in.
std::int64_t ChunkOf(std::int64_t at_us, std::int64_t bin_us);

// The bins of a block.
TickTable RollUp(const TickTable& block, std::int64_t bin_us);

// The bins of both: what both have a bin of is added up.
TickTable AddBins(const TickTable& bins, const TickTable& more);

// The four columns of each device of such a table; two where least and greatest were not read.
struct RollupDevice {
  const std::string* device;
  const Column *count, *least, *greatest, *sum;
};
std::vector<RollupDevice> DevicesOf(const TickTable& bins);

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
// Those of the keys that exist, locked until the caller's transaction ends.
Result<std::vector<StoredRollup>> LockRollups(Connection& connection, std::int64_t job_id,
                                              std::int64_t node_id,
                                              std::span<const RollupKey> keys);
// What LockRollups of these keys takes in memory, about.
Result<std::size_t> MeasureRollups(Connection& connection, std::int64_t job_id,
                                   std::int64_t node_id, std::span<const RollupKey> keys);
// Mark them stale first (job_rollups.h). Schemas as SaveBlocks does.
Status SaveRollups(Connection& connection, Connection& schemas, std::int64_t job_id,
                   std::int64_t node_id, std::span<const StoredRollup> rollups);

struct RollupQuery {
  std::int64_t job_id = 0;
  std::vector<std::int64_t> node_ids;  // empty = all
  std::int64_t bin_us = 0;             // of a level
  std::int64_t from_us = 0, until_us = INT64_MAX;
  TickFilter filter;
  std::vector<std::int64_t> chunks_us = {};  // these rows alone; empty = all
  bool means = false;                        // without least and greatest
};
// The bins of some chunks that a query needs, of one node and metric; of one in the order of time.
struct NodeRollup {
  std::int64_t node_id = 0;
  std::string metric;
  TickTable bins;
};
// One by one, by metric and node and in the order of time: decoded, those of a large job take ten
// times the memory. Many take several statements: ask in a snapshot. Invalid when they are more
// than one answer is made of; it says what to do. An error that `take` returns ends it.
inline constexpr std::size_t kMostRollups = 200'000;
Error TooManyRollups();
using TakeRollup = std::function<Status(NodeRollup)>;
Status ForEachRollup(Connection& connection, const RollupQuery& query, const TakeRollup& take);
// Those of one metric and chunk, of up to 10,000 nodes, by node.
Status ForEachRollupOf(Connection& connection, std::int64_t job_id, const RollupKey& key,
                       const std::vector<std::int64_t>& node_ids, const TakeRollup& take);

}  // namespace stepscope
