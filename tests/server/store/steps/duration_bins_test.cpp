#include "server/store/steps/duration_bins.h"

#include <gtest/gtest.h>

#include <random>

namespace stepscope {
namespace {

void ExpectInItsBin(std::int64_t ns) {
  const std::uint32_t bin = DurationBinOf(ns);
  ASSERT_LT(bin, kDurationBins) << ns;
  const double begin = DurationBinBegin(bin), width = DurationBinWidth(bin);
  const double middle = begin + (width - 1) / 2;
  EXPECT_LE(begin, double(ns));
  EXPECT_LE(double(ns) - begin, width) << ns;  // doubles beyond 2^53 are coarser than 1
  EXPECT_LE(std::abs(middle - double(ns)), double(ns) * kDurationErrorPercent / 100) << ns;
}

TEST(DurationBins, HoldAnyDurationWithinTheError) {
  std::mt19937_64 dice(1);
  for (int i = 0; i < 100'000; ++i) {
    ExpectInItsBin(static_cast<std::int64_t>((dice() >> 1) >> (dice() % 63)));
  }
  for (int power = 0; power < 63; ++power) {
    for (const std::int64_t near : {-1, 0, 1}) ExpectInItsBin((std::int64_t{1} << power) + near);
  }
  ExpectInItsBin(INT64_MAX);
}

TEST(DurationBins, FollowEachOther) {
  for (std::uint32_t bin = 0; bin + 1 < kDurationBins; ++bin) {
    ASSERT_EQ(DurationBinBegin(bin) + DurationBinWidth(bin), DurationBinBegin(bin + 1)) << bin;
  }
  EXPECT_EQ(DurationBinOf(INT64_MAX), kDurationBins - 1);
  EXPECT_EQ(DurationBinOf(0), 0u);
  EXPECT_EQ(DurationBinOf(-5), 0u);
}

}  // namespace
}  // namespace stepscope
