#pragma once

#include <cstdint>
#include <functional>

#include "server/store/postgres/database.h"
#include "server/store/ticks/tick_table.h"

namespace stepscope {

// Ticks and steps as they were measured. Everyone who reads samples comes through these functions:
// they see blocks and the frames that are not compacted yet as one, each sample once.

struct FetchedTicks;  // short_range.h

struct TickQuery {
  std::int64_t job_id = 0;
  std::int64_t node_id = 0;
  std::int64_t after_us = 0;          // exclusive
  std::int64_t until_us = INT64_MAX;  // inclusive
  TickFilter filter;
  std::size_t most_rows = 100'000;  // oldest first; the rest with the next call
  // Invalid where more would have to be decoded, times among them: see tick_batches.h.
  std::size_t most_values = SIZE_MAX;
  // Ticks at which nothing was measured that the filter wants may be left out: half as many blocks.
  bool values_only = false;
  // Rows that are here already; they are taken where they are of just this range. May be null.
  const FetchedTicks* fetched = nullptr;
};
Result<TickTable> ReadTicks(Connection&, const TickQuery&);

// The same of what is not compacted yet, of one node or (node 0) of each, node by node: decoded,
// some minutes of a large job take a gigabyte. Of a node with very many series in parts, oldest
// first, which end where windows of blocks do: no bin of a level lies in two of them. In several
// statements: ask in a snapshot. An error that `take` returns ends it.
struct NodeTicks {
  std::int64_t node_id = 0;
  TickTable ticks;
};
using TakeTicks = std::function<Status(NodeTicks)>;
Status ForEachFreshNode(Connection&, const TickQuery&, const TakeTicks& take);

}  // namespace stepscope
