#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "server/trace/compare/aligned_ranks.h"

namespace stepscope {

// What the ranks of a window would take without waiting for each other: their collectives one after
// the other, each of which begins when the last rank has come and then takes its shortest duration.
// What a rank does between two of them is taken to last as long whether it had waited before or
// not. (The way of arXiv 2505.05713, with collectives in place of single operations.)
struct WithoutWaiting {
  std::string_view unknown;      // why the rest is not known; "" where it is
  std::size_t collectives = 0;   // those that every rank has
  std::int64_t recorded_ns = 0;  // from the end of the first of these to that of the last
  std::int64_t even_ns = 0;      // with the mean of all ranks between two collectives
  std::int64_t median_ns = 0;    // with the median of all ranks
  struct Rank {
    int rank = 0;
    std::int64_t without_ns = 0;  // without this rank
  };
  std::vector<Rank> ranks;  // those without which it takes least, up to kMostWithout
};
inline constexpr std::size_t kMostWithout = 8;

WithoutWaiting MakeWithoutWaiting(const AlignedRanks& aligned);
OrderedJson ToJson(const WithoutWaiting& without);

}  // namespace stepscope
