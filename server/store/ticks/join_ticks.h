#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "server/store/ticks/tick_table.h"

namespace stepscope {

struct TickBounds {
  std::int64_t after_us = INT64_MIN;      // exclusive
  std::int64_t until_us = INT64_MAX - 1;  // inclusive
  std::size_t most_rows = SIZE_MAX;       // the oldest are kept
  std::size_t most_values = SIZE_MAX;     // times count as well: series seldom share theirs

  std::size_t MostRows(std::size_t series) const {
    return std::min(most_rows, std::max<std::size_t>(most_values / (series + 1), 1));
  }
};
// Joins tables that may overlap: each instant once, and of several values of a series at one
// instant the value of the table that begins first. A series has the largest scale of its tables at
// which all its values fit: a large value costs a small one digits, and is never cut itself.
TickTable JoinTicks(std::vector<TickTable> tables, const TickBounds& bounds);

}  // namespace stepscope
