#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "server/store/ticks/ticks.h"

namespace stepscope {

// A range that is not longer is read at once, without a look at how many rows it has.
inline constexpr std::int64_t kShortUs = 4 * 3'600'000'000;
inline bool IsShort(const TickQuery& query) {
  return query.until_us - std::max<std::int64_t>(query.after_us, 0) <= kShortUs;
}

// The statement that ReadShortRange asks first.
Statement ShortRangeStatement(const Connection& connection, const TickQuery& query);

// The answer to it that came along with another statement, before anyone could know whether it is
// needed. An error is that of a reader who takes it.
struct FetchedTicks {
  TickQuery query;
  Result<Rows> rows;
};

// The ticks of a short range, in tables that may overlap, from one snapshot: frames and blocks.
// Blocks that the connection's cache has are taken from there. Nothing when there are more than a
// few frames.
Result<std::optional<std::vector<TickTable>>> ReadShortRange(Connection& connection,
                                                             const TickQuery& query);

}  // namespace stepscope
