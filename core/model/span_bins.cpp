#include "core/model/span_bins.h"

#include <algorithm>
#include <bit>

namespace stepscope {
namespace {

constexpr int kPerPowerBits = 2;
constexpr int kFirstPower = 10;  // the second bin begins at 1,024 ns
constexpr int kPowers = 32;
static_assert(kSpanBins == (kPowers << kPerPowerBits) + 2);

}  // namespace

int SpanBinOf(std::int64_t ns) {
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
  const int power = static_cast<int>(std::bit_width(value)) - 1;
  if (power < kFirstPower) return 0;
  if (power >= kFirstPower + kPowers) return kSpanBins - 1;
  const int part = static_cast<int>(value >> (power - kPerPowerBits)) & ((1 << kPerPowerBits) - 1);
  return 1 + ((power - kFirstPower) << kPerPowerBits) + part;
}

std::int64_t SpanBinBegin(int bin) {
  if (bin <= 0) return 0;
  if (bin >= kSpanBins) return INT64_MAX;
  const int power = kFirstPower + ((bin - 1) >> kPerPowerBits);
  const std::int64_t part = (bin - 1) & ((1 << kPerPowerBits) - 1);
  return ((std::int64_t{1} << kPerPowerBits) + part) << (power - kPerPowerBits);
}

}  // namespace stepscope
