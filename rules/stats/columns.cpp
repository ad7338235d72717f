#include "rules/stats/columns.h"

#include <algorithm>

#include "rules/stats/statistics.h"

namespace stepscope {

std::vector<DeviceColumn> ColumnsOf(const TickView& ticks, std::string_view metric) {
  std::vector<DeviceColumn> columns;
  columns.reserve(std::min<std::size_t>(ticks.series.size(), 16));  // most nodes have no more
  for (std::size_t i = 0; i < ticks.series.size(); ++i) {
    if (ticks.series[i].metric != metric) continue;
    columns.push_back({ticks.series[i].device, &ticks.columns[i]});
  }
  return columns;
}

std::optional<double> ShareBelow(const std::vector<DeviceColumn>& columns, std::size_t row,
                                 std::uint32_t bin) {
  std::size_t known = 0, below = 0;
  for (const DeviceColumn& each : columns) {
    if (!each.Has(row)) continue;
    ++known;
    below += PercentBin(*each.column, row) < bin ? 1 : 0;
  }
  if (known == 0) return {};
  return static_cast<double>(below) / static_cast<double>(known);
}

std::optional<bool> AnyAbove(const std::vector<DeviceColumn>& columns, std::size_t row,
                             std::uint32_t bin) {
  std::optional<bool> above;
  for (const DeviceColumn& each : columns) {
    if (!each.Has(row)) continue;
    if (PercentBin(*each.column, row) > bin) return true;
    above = false;
  }
  return above;
}

}  // namespace stepscope
