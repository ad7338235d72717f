#include "server/store/steps/duration_bins.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace stepscope {
namespace {

constexpr std::uint32_t kPerPower = 128;
constexpr int kPerPowerBits = 7;

// Bins of 1 ns up to two times kPerPower; twice as wide from each power of two on.
int ShiftOf(std::uint32_t bin) {
  return std::max(static_cast<int>(bin / kPerPower) - 1, 0);
}

}  // namespace

std::uint32_t DurationBinOf(std::int64_t ns) {
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
  const int shift = std::max(static_cast<int>(std::bit_width(value)) - 1 - kPerPowerBits, 0);
  return static_cast<std::uint32_t>(shift) * kPerPower + static_cast<std::uint32_t>(value >> shift);
}

double DurationBinBegin(std::uint32_t bin) {
  const int shift = ShiftOf(bin);
  return std::ldexp(double(bin - static_cast<std::uint32_t>(shift) * kPerPower), shift);
}

double DurationBinWidth(std::uint32_t bin) {
  return std::ldexp(1.0, ShiftOf(bin));
}

}  // namespace stepscope
