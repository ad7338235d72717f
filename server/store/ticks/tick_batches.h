#pragma once

#include <cstdint>
#include <functional>

#include "server/store/ticks/ticks.h"

namespace stepscope {

// All ticks of a query, oldest first, as tables that follow each other: of `most_us` each, or of
// less where that is more than 4 million values. A window of blocks is the least: Invalid where one
// has more than the largest table that is stored. An error that `take` returns ends it.
using TakeTickBatch = std::function<Status(TickTable)>;
Status ForEachTickBatch(Connection& connection, TickQuery query, std::int64_t most_us,
                        const TakeTickBatch& take);

}  // namespace stepscope
