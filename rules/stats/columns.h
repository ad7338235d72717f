#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/engine/rule.h"

namespace stepscope {

// A device's column of a metric.
struct DeviceColumn {
  std::string device;
  const Column* column = nullptr;

  bool Has(std::size_t row) const { return column->Has(row); }
};

// The columns of one metric, with devices in the order of the table.
std::vector<DeviceColumn> ColumnsOf(const TickView& ticks, std::string_view metric);

// The devices below a percentage as a part of the devices with a sample in the row, 0 to 1. None
// when no device has a sample.
std::optional<double> ShareBelow(const std::vector<DeviceColumn>& columns, std::size_t row,
                                 std::uint32_t bin);

// Whether any device is above a percentage in the row. None when no device has a sample.
std::optional<bool> AnyAbove(const std::vector<DeviceColumn>& columns, std::size_t row,
                             std::uint32_t bin);

}  // namespace stepscope
