#include "core/model/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace stepscope {

std::int64_t PowerOfTen(std::uint8_t scale) {
  std::int64_t power = 1;
  for (int i = 0; i < std::min<int>(scale, 18); ++i) power *= 10;
  return power;
}

double Column::At(std::size_t row) const {
  return static_cast<double>(values[row]) / static_cast<double>(PowerOfTen(scale));
}

std::int64_t ToScaled(double value, std::uint8_t scale) {
  const double scaled = std::round(value * static_cast<double>(PowerOfTen(scale)));
  if (!(scaled < 9.2e18)) return std::numeric_limits<std::int64_t>::max();
  if (!(scaled > -9.2e18)) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(scaled);
}

}  // namespace stepscope
