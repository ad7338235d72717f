#pragma once

#include "core/model/table.h"

namespace stepscope {

// The values of a column, all 0 without one.
class ScaledColumn {
 public:
  explicit ScaledColumn(const Column* column)
      : values_(column ? column->values.data() : nullptr),
        one_(column ? static_cast<double>(PowerOfTen(column->scale)) : 1) {}
  double operator[](std::size_t row) const {
    return values_ ? static_cast<double>(values_[row]) / one_ : 0;
  }

 private:
  const std::int64_t* values_;
  double one_;
};

}  // namespace stepscope
