#pragma once

#include <algorithm>
#include <cstdint>

namespace stepscope {

// The time without a sample from which on a gap is drawn: two intervals of the job, or twice the
// shortest time between two samples of the series, since agents read some sources only every few
// seconds and one every minute.
inline std::int64_t LeastGapUs(std::int64_t interval_us, std::int64_t shortest_us) {
  constexpr std::int64_t kLongestPace = 60'000'000;
  return 2 * std::max(interval_us, std::min(shortest_us, kLongestPace));
}

}  // namespace stepscope
