#include "server/trace/intervals.h"

#include <algorithm>

namespace stepscope {

TimeRanges UnionOf(std::vector<TimeRange> ranges) {
  std::ranges::sort(ranges, {}, &TimeRange::begin_ns);
  TimeRanges result;
  for (const TimeRange& range : ranges) {
    if (range.end_ns <= range.begin_ns) continue;
    if (!result.empty() && range.begin_ns <= result.back().end_ns) {
      result.back().end_ns = std::max(result.back().end_ns, range.end_ns);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

TimeRanges Difference(const TimeRanges& ranges, const TimeRanges& without) {
  TimeRanges result;
  std::size_t next = 0;
  for (TimeRange range : ranges) {
    while (next < without.size() && without[next].end_ns <= range.begin_ns) ++next;
    for (std::size_t at = next; at < without.size() && without[at].begin_ns < range.end_ns; ++at) {
      if (without[at].begin_ns > range.begin_ns) {
        result.push_back({range.begin_ns, without[at].begin_ns});
      }
      range.begin_ns = std::max(range.begin_ns, without[at].end_ns);
    }
    if (range.end_ns > range.begin_ns) result.push_back(range);
  }
  return result;
}

TimeRanges GapsOf(const TimeRanges& ranges, TimeRange bounds) {
  return bounds.end_ns > bounds.begin_ns ? Difference({bounds}, ranges) : TimeRanges{};
}

std::int64_t LengthOf(const TimeRanges& ranges) {
  std::int64_t length = 0;
  for (const TimeRange& range : ranges) length += range.length_ns();
  return length;
}

std::int64_t LengthWithin(const TimeRanges& ranges, TimeRange bounds) {
  auto at = std::ranges::upper_bound(ranges, bounds.begin_ns, {}, &TimeRange::end_ns);
  std::int64_t length = 0;
  for (; at != ranges.end() && at->begin_ns < bounds.end_ns; ++at) {
    length += std::min(at->end_ns, bounds.end_ns) - std::max(at->begin_ns, bounds.begin_ns);
  }
  return length;
}

}  // namespace stepscope
