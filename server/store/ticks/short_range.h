#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "server/store/ticks/ticks.h"

namespace stepscope {

// The longest range that is read in one statement, without counting its rows first.
inline constexpr std::int64_t kShortUs = 4 * 3'600'000'000;
inline bool IsShort(const TickQuery& query) {
  return query.until_us - std::max<std::int64_t>(query.after_us, 0) <= kShortUs;
}

// The statement that ReadShortRange asks first.
Statement ShortRangeStatement(const Connection& connection, const TickQuery& query);

// Rows of that statement that were read together with another one, before it was known whether they
// are needed. An error is returned to the reader that uses them.
struct FetchedTicks {
  TickQuery query;
  Result<Rows> rows;
};

// The ticks of a short range, in tables that may overlap, from one snapshot of frames and blocks.
// Blocks come from the connection's cache where it has them. nullopt when there are more than a few
// frames.
Result<std::optional<std::vector<TickTable>>> ReadShortRange(Connection& connection,
                                                             const TickQuery& query);

}  // namespace stepscope
