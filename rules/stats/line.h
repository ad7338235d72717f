#pragma once

#include <span>
#include <utility>
#include <vector>

namespace stepscope {

// A line through points that outliers do not bend (Theil and Sen): its slope is the median of the
// slopes of all pairs of points.
struct Line {
  double slope = 0;
  double start = 0, end = 0;  // its height at the first and at the last point
  double rising = 0;          // part of the pairs that rise, 0 to 1
};

// Takes at least two points, ordered by x, no two at the same x. Compares all pairs: for a hundred
// points or so.
Line LineThrough(std::span<const std::pair<double, double>> points);

// The middle value, or the lower of the two in the middle; there must be at least one value.
double Median(std::vector<double> values);

}  // namespace stepscope
