#include "rules/stats/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <random>

#include "rules/engine/packing.h"

namespace stepscope {
namespace {

constexpr double kShares[] = {0.05, 0.5, 0.95, 1.0};

// Percentile by nearest rank, the slow way.
double Sorted(std::vector<std::uint32_t> values, double share) {
  std::ranges::sort(values);
  const double rank = std::max(1.0, std::ceil(share * static_cast<double>(values.size())));
  return BinPercent(values[static_cast<std::size_t>(rank) - 1]);
}

TEST(PercentBin, HoldsBothEndsAndClamps) {
  EXPECT_EQ(PercentBin(0.0), 0u);
  EXPECT_EQ(PercentBin(100.0), 10'000u);
  EXPECT_EQ(PercentBin(-5.0), 0u);
  EXPECT_EQ(PercentBin(1e9), 10'000u);
  EXPECT_EQ(PercentBin(std::nan("")), 0u);
  EXPECT_EQ(PercentBin(Column{2, {4127}, {}}, 0), 4127u);
  EXPECT_EQ(PercentBin(Column{0, {41}, {}}, 0), 4100u);
  EXPECT_EQ(PercentBin(Column{2, {-1}, {}}, 0), 0u);
  EXPECT_EQ(PercentBin(Column{2, {INT64_MAX}, {}}, 0), 10'000u);
}

TEST(SlidingPercentiles, AreThoseOfASortedWindow) {
  for (const std::size_t window : {1u, 2u, 7u, 500u}) {
    std::mt19937 random(window);
    SlidingPercentiles sliding(window);
    std::deque<std::uint32_t> kept;
    for (int i = 0; i < 3000; ++i) {
      const std::uint32_t bin =
          static_cast<std::uint32_t>(random() % (i % 700 < 350 ? 100 : 10'001));
      sliding.Add(bin);
      kept.push_back(bin);
      if (kept.size() > window) kept.pop_front();
      if (random() % 10 != 0) continue;
      const double sum = std::accumulate(kept.begin(), kept.end(), 0.0);
      ASSERT_DOUBLE_EQ(sliding.Mean(), sum / static_cast<double>(kept.size()) / 100);
      for (const double share : kShares) {
        ASSERT_EQ(sliding.Percentile(share), Sorted({kept.begin(), kept.end()}, share))
            << "window " << window << ", sample " << i;
      }
    }
  }
}

TEST(SlidingPercentiles, GoesOnAfterSaveAndLoad) {
  SlidingPercentiles straight(5), saved(5);
  for (std::uint32_t i = 0; i < 23; ++i) {
    straight.Add(i * 379 % 10'001);
    saved.Add(i * 379 % 10'001);
    SlidingPercentiles loaded(5);
    ASSERT_TRUE(loaded.Load(saved.Save()).ok());
    saved = loaded;
    ASSERT_EQ(saved.Percentile(0.5), straight.Percentile(0.5)) << i;
    ASSERT_EQ(saved.size(), straight.size());
  }
}

TEST(SlidingPercentiles, RefusesStateThatIsNotItsOwn) {
  SlidingPercentiles sliding(2);
  EXPECT_FALSE(sliding.Load(PackNumbers(std::vector<std::uint64_t>(65'001, 1))).ok());
  EXPECT_FALSE(sliding.Load(PackNumbers({10'001})).ok());
  EXPECT_FALSE(sliding.Load("\xff").ok());
}

TEST(SlidingPercentiles, KeepsTheNewestOfAStateThatIsLargerThanItsWindow) {
  SlidingPercentiles sliding(2);
  ASSERT_TRUE(sliding.Load(PackNumbers({9'000, 100, 200})).ok());
  EXPECT_TRUE(sliding.full());
  EXPECT_EQ(sliding.Percentile(0), 1);
  EXPECT_EQ(sliding.Percentile(1), 2);
}

TEST(RankedBins, KnowsBothEnds) {
  TotalBins bins(kPercentBins);
  EXPECT_EQ(bins.Percentile(0.5), 0u);
  for (std::uint32_t bin = 1; bin <= 100; ++bin) bins.Add(bin);
  EXPECT_EQ(bins.Percentile(0.5), 50u);
  EXPECT_EQ(bins.Percentile(0), 1u);
  EXPECT_EQ(bins.Percentile(1), 100u);
}

TEST(RankedBins, RefusesHistogramsBeyondItsBins) {
  WindowBins bins(10);
  EXPECT_TRUE(bins.Load(PackNumbers({9, 65'535})).ok());
  EXPECT_FALSE(bins.Load(PackNumbers({10, 1})).ok());
  EXPECT_FALSE(bins.Load(PackNumbers({5, 1, UINT64_MAX, 1})).ok());
  EXPECT_FALSE(bins.Load(PackNumbers({1, 65'536})).ok());
  EXPECT_FALSE(bins.Load(PackNumbers({1, 60'000, 1, 60'000})).ok());
  EXPECT_FALSE(bins.Load(PackNumbers({1, 5, 0, 5})).ok());
}

TEST(PackNumbers, ComesBackAsItWas) {
  const std::vector<std::uint64_t> numbers = {0, 1, 127, 128, 16'383, 16'384, UINT64_MAX};
  EXPECT_EQ(*UnpackNumbers(PackNumbers(numbers), 7), numbers);
  EXPECT_FALSE(UnpackNumbers(PackNumbers(numbers), 6).ok());
}

TEST(AmountBin, KeepsAmountsToAFewPercent) {
  for (double amount = 1; amount < 1e18; amount *= 1.7) {
    EXPECT_NEAR(BinAmount(AmountBin(amount)) / amount, 1, 0.012);
  }
  EXPECT_EQ(AmountBin(0), 0u);
  EXPECT_EQ(AmountBin(-1), 0u);
  EXPECT_LT(AmountBin(1e300), kAmountBins);
}

}  // namespace
}  // namespace stepscope
