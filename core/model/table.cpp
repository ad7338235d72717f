#include "core/model/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace stepscope {
namespace {

constexpr auto kPowersOfTen = [] {
  std::array<std::int64_t, 19> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = 10 * powers[i - 1];
  return powers;
}();

}  // namespace

std::int64_t PowerOfTen(std::uint8_t scale) {
  return kPowersOfTen[std::min<std::size_t>(scale, kPowersOfTen.size() - 1)];
}

double Column::At(std::size_t row) const {
  return static_cast<double>(values[row]) / static_cast<double>(PowerOfTen(scale));
}

std::int64_t Rescaled(std::int64_t value, std::uint8_t from, std::uint8_t to) {
  if (to <= from) return value / PowerOfTen(static_cast<std::uint8_t>(from - to));
  const std::int64_t power = PowerOfTen(static_cast<std::uint8_t>(to - from));
  std::int64_t scaled = 0;
  if (!__builtin_mul_overflow(value, power, &scaled)) return scaled;
  return value < 0 ? INT64_MIN : INT64_MAX;
}

std::int64_t ToScaled(double value, std::uint8_t scale) {
  const double scaled = std::round(value * static_cast<double>(PowerOfTen(scale)));
  if (!(scaled < 9.2e18)) return std::numeric_limits<std::int64_t>::max();
  if (!(scaled > -9.2e18)) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(scaled);
}

}  // namespace stepscope
