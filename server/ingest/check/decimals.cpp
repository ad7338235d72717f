#include "server/ingest/check/decimals.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/model/table.h"

namespace stepscope {
namespace {

constexpr int kMostDecimals = 9, kKeptDigits = 9;
constexpr int kWildExponent = 10'000;             // beyond the range of a double
constexpr double kExact = 9'007'199'254'740'992;  // 2^53

int ExponentOf(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc()) return text.starts_with('-') ? -kWildExponent : kWildExponent;
  return std::clamp(exponent, -kWildExponent, kWildExponent);
}

}  // namespace

int DecimalsOf(std::string_view number) {
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  const int exponent = e < number.size() ? ExponentOf(number.substr(e + 1)) : 0;
  const std::string_view digits = number.substr(0, e);
  const std::size_t point = digits.find('.');
  int places = point == digits.npos ? 0 : static_cast<int>(digits.size() - point) - 1;
  // Zeros at the end say nothing; all zeros are 0.
  std::size_t last = digits.find_last_not_of("0.");
  if (last == digits.npos || digits[last] == '-') return 0;
  for (std::size_t at = digits.size() - 1; at > last; --at) places -= digits[at] == '0' ? 1 : 0;
  return std::max(places - exponent, 0);
}

std::uint8_t ChooseScale(int decimals, double largest) {
  if (decimals <= kMostDecimals) {
    const auto scale = static_cast<std::uint8_t>(decimals);
    if (scale == 0 || largest * static_cast<double>(PowerOfTen(scale)) <= kExact) return scale;
  }
  if (largest == 0) return 0;
  const int digits = static_cast<int>(std::floor(std::log10(largest))) + 1;  // before the point
  return static_cast<std::uint8_t>(std::clamp(kKeptDigits - digits, 0, kMostDecimals));
}

}  // namespace stepscope
