#pragma once

#include <functional>

#include "server/store/postgres/database.h"

namespace stepscope {

// Rollups are read in lots, since an answer of PostgreSQL is in memory as a whole: a statement
// gives those behind the last row of the lot before, at most kRollupsAtOnce (as it says) and of at
// most so many bytes, which it counts in a column.
inline constexpr std::size_t kRollupsAtOnce = 4'096;
inline constexpr std::int64_t kRollupBytesAtOnce = 8 * 1024 * 1024;

using AskPage =
    std::function<Result<Rows>(const Rows& before)>;  // without rows: from the beginning
using TakePage = std::function<Status(const Rows& rows)>;
// Invalid when they are more than one answer is made of. An error of `ask` and `take` ends it.
Status ForEachPage(std::size_t bytes_column, const AskPage& ask, const TakePage& take);

}  // namespace stepscope
