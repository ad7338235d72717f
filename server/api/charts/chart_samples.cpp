#include "server/api/charts/chart_samples.h"

#include <algorithm>

namespace stepscope {

bool HasAny(const Column& column) {
  return column.present.empty() || std::ranges::find(column.present, 1) != column.present.end();
}

std::int64_t ShortestUs(std::span<const std::int64_t> at_us) {
  std::int64_t shortest_us = INT64_MAX;
  for (std::size_t row = 1; row < at_us.size(); ++row) {
    shortest_us = std::min(shortest_us, at_us[row] - at_us[row - 1]);
  }
  return shortest_us;
}

std::int64_t ShortestUs(std::span<const std::int64_t> at_us, const Column& column) {
  std::vector<std::int64_t> some;
  for (std::size_t row = 0; row < at_us.size(); ++row) {
    if (column.Has(row)) some.push_back(at_us[row]);
  }
  return ShortestUs(some);
}

std::int64_t LastUs(const ChartSamples& samples) {
  std::size_t rows = samples.at_us->size();
  while (rows > 0 && !samples.column.Has(rows - 1)) --rows;
  return rows == 0 ? 0 : (*samples.at_us)[rows - 1];
}

}  // namespace stepscope
