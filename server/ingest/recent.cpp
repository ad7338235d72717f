#include "server/ingest/recent.h"

#include <algorithm>
#include <vector>

namespace stepscope {
namespace {

constexpr Duration kRecent = 60s;

}  // namespace

void RecentTimes::Add(SteadyTime ended, Duration took) {
  entries_[count_++ % entries_.size()] = {ended, took};
}

Duration RecentTimes::P95(SteadyTime now) const {
  std::vector<Duration> times;
  for (std::size_t at = 0; at < std::min(count_, entries_.size()); ++at) {
    if (now - entries_[at].ended <= kRecent) times.push_back(entries_[at].took);
  }
  if (times.size() < 2) return Duration::zero();
  const std::size_t rank = times.size() * 95 / 100 - 1;
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(rank));
  return times[rank];
}

}  // namespace stepscope
