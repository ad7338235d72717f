#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "agent/collect/tick_row.h"

namespace stepscope {

// The series of a custom metric, whose range is not known beforehand. It gets as many decimal
// digits as leave room for values a thousand times as large as the first; larger values, and values
// that are not finite, are left out. For one row, and one thread.
class CustomSeries {
 public:
  CustomSeries(std::string_view metric, std::string_view device)
      : metric_(metric), device_(device) {}

  // Sets the value of this tick. The first value makes the column.
  void Set(double value, TickRow& row);

 private:
  std::string metric_, device_;
  std::size_t column_ = TickRow::kNoColumn;
  double most_ = 0;  // largest value that fits
};

// Whether the tick has a value of any custom metric.
bool HasCustom(const TickRow& row);

}  // namespace stepscope
