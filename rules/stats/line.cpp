#include "rules/stats/line.h"

#include <algorithm>
#include <cassert>

namespace stepscope {

double Median(std::vector<double> values) {
  assert(!values.empty());
  const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

Line LineThrough(std::span<const std::pair<double, double>> points) {
  assert(points.size() >= 2);
  std::vector<double> slopes, heights;
  std::size_t rising = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const double rise = points[j].second - points[i].second;
      slopes.push_back(rise / (points[j].first - points[i].first));
      rising += rise > 0 ? 1 : 0;
    }
  }
  Line line;
  line.rising = static_cast<double>(rising) / static_cast<double>(slopes.size());
  line.slope = Median(std::move(slopes));
  for (const auto& [x, y] : points) heights.push_back(y - line.slope * x);
  const double height = Median(std::move(heights));
  line.start = height + line.slope * points.front().first;
  line.end = height + line.slope * points.back().first;
  return line;
}

}  // namespace stepscope
