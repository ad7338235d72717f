#pragma once

#include <cstdint>
#include <functional>

#include "server/store/postgres/database.h"
#include "server/store/ticks/tick_table.h"

namespace stepscope {

// Ticks as they were measured. Every reader of samples uses these functions, which show blocks and
// the frames that are not compacted yet as one, each sample once.

struct FetchedTicks;  // see short_range.h

struct TickQuery {
  std::int64_t job_id = 0;
  std::int64_t node_id = 0;
  std::int64_t after_us = 0;          // exclusive
  std::int64_t until_us = INT64_MAX;  // inclusive
  TickFilter filter;
  std::size_t most_rows = 100'000;  // the oldest; later ones come with the next call
  // Invalid where more values, times included, would have to be decoded: see tick_batches.h.
  std::size_t most_values = SIZE_MAX;
  // Ticks without a value that the filter wants may be left out: half as many blocks are read.
  bool values_only = false;
  // Rows that were read before; used where they are of exactly this range. May be null.
  const FetchedTicks* fetched = nullptr;
};
Result<TickTable> ReadTicks(Connection&, const TickQuery&);

// Reads ticks that are not compacted yet, of one node or (node 0) of all, node by node, because
// decoded some minutes of a large job take a gigabyte. A node with very many series comes in parts,
// oldest first, which end where block windows do: no bin of a rollup is in two of them. Takes
// several statements: call it in a snapshot. An error that `take` returns ends it.
struct NodeTicks {
  std::int64_t node_id = 0;
  TickTable ticks;
};
using TakeTicks = std::function<Status(NodeTicks)>;
Status ForEachFreshNode(Connection&, const TickQuery&, const TakeTicks& take);

}  // namespace stepscope
