#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "agent/collect/tick_row.h"

namespace stepscope {

// The series of a custom metric, whose values nobody can foresee. It has as many decimal digits as
// leave room for values a thousand times as large as the first; what does not fit is left out, and
// what is no finite number. For one row, and one thread.
class CustomSeries {
 public:
  CustomSeries(std::string_view metric, std::string_view device)
      : metric_(metric), device_(device) {}

  // Its value of this tick. The column is made with the first one.
  void Set(double value, TickRow& row);

 private:
  std::string metric_, device_;
  std::size_t column_ = TickRow::kNoColumn;
  double most_ = 0;  // what fits
};

// Whether the tick has the value of any.
bool HasCustom(const TickRow& row);

}  // namespace stepscope
