#include "server/store/ticks/tick_batches.h"

#include <algorithm>

#include "server/store/ticks/blocks.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostOfWindow = kBlockLimits.cells + kBlockLimits.rows;

// The end of the last block window that ends in the batch, or else of the first one.
std::int64_t EndOfWindow(std::int64_t after_us, std::int64_t batch_us) {
  const std::int64_t first_us = after_us + 1;
  return std::max(BlockWindowOf(first_us + batch_us), BlockWindowOf(first_us) + kBlockWindowUs) - 1;
}

// Reads the ticks of `query`, or of an earlier end where they are too many; later batches are
// shorter then, too.
Result<TickTable> ReadFirst(Connection& connection, TickQuery& query, std::int64_t& batch_us) {
  for (;;) {
    const bool least = BlockWindowOf(query.after_us + 1) == BlockWindowOf(query.until_us);
    query.most_values = least ? kMostOfWindow : kValuesAtOnce;
    Result<TickTable> table = ReadTicks(connection, query);
    if (table || least || table.error().code != Code::kInvalid) return table;
    batch_us = std::max(batch_us / 2, kBlockWindowUs);
    query.until_us = EndOfWindow(query.after_us, batch_us);
    query.most_rows = std::max<std::size_t>(query.most_rows / 2, 1);
  }
}

// Whether a batch of twice the time is small enough, too, though each metric may have times of its
// own.
bool IsSmall(const TickTable& table) {
  return table.at_us.size() * (table.series.size() + 1) < kValuesAtOnce / 8;
}

}  // namespace

Status ForEachTickBatch(Connection& connection, TickQuery query, std::int64_t most_us,
                        const TakeTickBatch& take) {
  query.after_us = std::max<std::int64_t>(query.after_us, -1);
  query.until_us = std::min(query.until_us,
                            INT64_MAX - 2 * kBlockWindowUs);  // leaves room to compute the next end
  for (std::int64_t batch_us = most_us; query.after_us < query.until_us;) {
    batch_us = std::min(batch_us, query.until_us - query.after_us);
    TickQuery next = query;
    next.until_us = query.after_us + batch_us;
    Result<TickTable> table = ReadFirst(connection, next, batch_us);
    if (!table) return table.error();
    const bool all = table->complete || table->at_us.empty();
    query.after_us = all ? next.until_us : table->at_us.back();
    if (IsSmall(*table)) batch_us += std::min(batch_us, most_us - batch_us);
    if (Status taken = take(*std::move(table)); !taken) return taken;
  }
  return {};
}

}  // namespace stepscope
