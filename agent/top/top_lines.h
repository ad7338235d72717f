#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "agent/top/top_view.h"

namespace stepscope {

struct TopStyle {
  std::size_t columns = 80;
  std::size_t rows = 0;  // 0: no limit
  bool unicode = false;  // else ASCII only
  bool colour = false;
};

// The view as lines, none wider than the columns, no more than the rows. Jobs and ranks go first:
// where the rows do not suffice, cores are folded into larger groups and fewer disks, networks and
// then GPUs are shown; the missing ones are counted. Names come from outside: characters that are
// not printable ASCII are replaced.
std::vector<std::string> LinesOf(const TopView& view, const TopStyle& style);

}  // namespace stepscope
