#pragma once

#include <cstdint>
#include <functional>

#include "server/store/ticks/ticks.h"

namespace stepscope {

// Reads the ticks of a query, oldest first, in batches that follow each other: of `most_us` each,
// or shorter where that has more than 4 million values. The shortest batch is a block window:
// Invalid where one has more values than the largest stored table. An error that `take` returns
// ends it.
using TakeTickBatch = std::function<Status(TickTable)>;
Status ForEachTickBatch(Connection& connection, TickQuery query, std::int64_t most_us,
                        const TakeTickBatch& take);

}  // namespace stepscope
