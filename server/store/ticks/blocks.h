#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/postgres/database.h"
#include "server/store/ticks/tick_table.h"

namespace stepscope {

// A block holds one metric of one node, all its devices, in one block window: 600 s since the
// epoch. The block of the metric "" holds the times of all ticks, also of ticks that lack a metric.

inline constexpr std::int64_t kBlockWindowUs = 600'000'000;
inline constexpr char kAllTicks[] = "";

// The begin of the block window that a time lies in.
constexpr std::int64_t BlockWindowOf(std::int64_t at_us) {
  return at_us - at_us % kBlockWindowUs;
}

struct BlockQuery {
  std::int64_t job_id = 0, node_id = 0;
  std::int64_t from_us = 0,
               until_us = INT64_MAX;  // block windows that have a time in [from, until]
  TickFilter filter;
};
struct BlockWindow {
  std::int64_t window_us = 0, rows = 0;
};
// Block windows that have blocks, oldest first.
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
// Locks all blocks of some block windows until the caller's transaction ends, by window and metric
// as removals do: for a transaction that then locks some of them in another order.
Status LockBlockWindows(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                        const std::vector<std::int64_t>& windows_us);

// The blocks of these keys that exist, locked until the caller's transaction ends.
Result<std::vector<StoredBlock>> LockBlocks(Connection& connection, std::int64_t job_id,
                                            std::int64_t node_id, std::span<const BlockKey> keys);

// The memory that LockBlocks of these keys takes, about.
Result<std::size_t> MeasureBlocks(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                                  std::span<const BlockKey> keys);

// Writes blocks over existing ones; lock and merge those first. Schemas are saved on a connection
// that may be another one: there they are committed at once. In a long transaction, ingest would
// wait to save one of them until that ends.
Status SaveBlocks(Connection& connection, Connection& schemas, std::int64_t job_id,
                  std::int64_t node_id, std::span<const StoredBlock> blocks);

}  // namespace stepscope
