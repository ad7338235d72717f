#pragma once

#include <functional>

#include "server/store/postgres/database.h"

namespace stepscope {

// Rollups are read in pages, since an answer of PostgreSQL is in memory as a whole: a statement
// returns the rows after the last one of the page before, at most kRollupsAtOnce, and up to a
// number of bytes that it counts in a column.
inline constexpr std::size_t kRollupsAtOnce = 4'096;
inline constexpr std::int64_t kRollupBytesAtOnce = 8 * 1024 * 1024;

using AskPage =
    std::function<Result<Rows>(const Rows& before)>;  // without rows: from the beginning
using TakePage = std::function<Status(const Rows& rows)>;
// Invalid when they are more than one answer is made of. An error of `ask` or `take` ends it.
Status ForEachPage(std::size_t bytes_column, const AskPage& ask, const TakePage& take);

}  // namespace stepscope
