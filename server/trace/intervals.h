#pragma once

#include <cstdint>
#include <vector>

namespace stepscope {

// A stretch of time, in nanoseconds; the end is not part of it.
struct TimeRange {
  std::int64_t begin_ns = 0, end_ns = 0;

  std::int64_t length_ns() const { return end_ns - begin_ns; }
  bool operator==(const TimeRange&) const = default;
};

// Ranges by time that neither overlap nor touch.
using TimeRanges = std::vector<TimeRange>;

// The union of ranges in any order; empty ones do not count.
TimeRanges UnionOf(std::vector<TimeRange> ranges);

// What is in `ranges` and not in `without`; both are unions.
TimeRanges Difference(const TimeRanges& ranges, const TimeRanges& without);

// The gaps of a union within bounds.
TimeRanges GapsOf(const TimeRanges& ranges, TimeRange bounds);

std::int64_t LengthOf(const TimeRanges& ranges);

// The time that a union has within bounds.
std::int64_t LengthWithin(const TimeRanges& ranges, TimeRange bounds);

}  // namespace stepscope
