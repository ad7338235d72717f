#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stepscope {

// Percentiles of scaled integers, by nearest rank: each result is a value that occurred.

// For each of the ends (ascending, each at least 1 and at most the number of values) the
// percentiles of the last `window` values before it, or of all before it while they are fewer: one
// row of `shares` each. Costs the same for every window: one sort of all values, then an addition
// and a removal for each. `window` is 1 to kMostWindow.
inline constexpr std::size_t kMostWindow = 65'000;
std::vector<std::vector<std::int64_t>> SlidePercentiles(std::span<const std::int64_t> values,
                                                        std::size_t window,
                                                        std::span<const std::size_t> ends,
                                                        std::span<const double> shares);

// The place, in ascending order, of the value at the percentile (0 to 1) of `count` values, at
// least one.
std::size_t NearestRank(double share, std::size_t count);

// The percentile of all values; there must be at least one value.
std::vector<std::int64_t> PercentilesOf(std::vector<std::int64_t> values,
                                        std::span<const double> shares);

// Ends for SlidePercentiles: all of (first, last], or `most` of them, evenly, with the last.
std::vector<std::size_t> EvenEnds(std::size_t first, std::size_t last, std::size_t most);

}  // namespace stepscope
