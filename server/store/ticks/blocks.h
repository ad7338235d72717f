#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/postgres/database.h"
#include "server/store/ticks/tick_table.h"

namespace stepscope {

// Blocks: one metric of one node, all its devices, in one window of 600 s since the epoch. The
// block of the metric "" holds the times of all ticks, also of those that lack a metric.

inline constexpr std::int64_t kBlockWindowUs = 600'000'000;
inline constexpr char kAllTicks[] = "";

// Begin of the window that a time lies in.
constexpr std::int64_t BlockWindowOf(std::int64_t at_us) {
  return at_us - at_us % kBlockWindowUs;
}

struct BlockQuery {
  std::int64_t job_id = 0, node_id = 0;
  std::int64_t from_us = 0, until_us = INT64_MAX;  // windows that have a time in [from, until]
  TickFilter filter;
};
struct BlockWindow {
  std::int64_t window_us = 0, rows = 0;
};
// Windows that have blocks, oldest first.
Result<std::vector<BlockWindow>> ListBlockWindows(Connection& connection, const BlockQuery& query);

// The blocks of the wanted metrics and of "", decoded.
Result<std::vector<TickTable>> LoadBlocks(Connection& connection, const BlockQuery& query,
                                          ValueBudget& budget);

struct BlockKey {
  std::int64_t window_us = 0;
  std::string metric;

  auto operator<=>(const BlockKey&) const = default;
};
struct StoredBlock {
  BlockKey key;
  bool clock_suspect = false;
  TickTable table;
};
// Locks all blocks of some windows until the caller's transaction ends, by window and metric as who
// removes them does: before a transaction that locks some after the other in an order of its own.
Status LockBlockWindows(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                        const std::vector<std::int64_t>& windows_us);

// Those of the keys that exist, locked until the caller's transaction ends.
Result<std::vector<StoredBlock>> LockBlocks(Connection& connection, std::int64_t job_id,
                                            std::int64_t node_id, std::span<const BlockKey> keys);

// What LockBlocks of these keys takes in memory, about.
Result<std::size_t> MeasureBlocks(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                                  std::span<const BlockKey> keys);

// Writes blocks, in the place of those that are there; lock and merge those first. Schemas are
// saved on a connection that may be another one: there they are committed at once. In a long
// transaction, ingest would wait to save one of them until that ends.
Status SaveBlocks(Connection& connection, Connection& schemas, std::int64_t job_id,
                  std::int64_t node_id, std::span<const StoredBlock> blocks);

}  // namespace stepscope
