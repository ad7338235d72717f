#include "server/store/rollups/rollup_pages.h"

#include <utility>

#include "server/store/rollups/rollups.h"

namespace stepscope {
namespace {

bool IsLast(const Rows& rows, std::size_t bytes_column) {
  return rows.size() < kRollupsAtOnce &&
         (rows.empty() || rows.Int(rows.size() - 1, bytes_column) < kRollupBytesAtOnce);
}

}  // namespace

Status ForEachPage(std::size_t bytes_column, const AskPage& ask, const TakePage& take) {
  Rows before;
  for (std::size_t left = kMostRollups;;) {
    Result<Rows> rows = ask(before);
    if (!rows) return rows.error();
    if (rows->size() > left) return TooManyRollups();
    left -= rows->size();
    if (Status taken = take(*rows); !taken) return taken;
    if (IsLast(*rows, bytes_column)) return {};
    before = *std::move(rows);
  }
}

}  // namespace stepscope
