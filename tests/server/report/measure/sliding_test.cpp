#include "server/report/measure/sliding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace stepscope {
namespace {

using Values = std::vector<std::int64_t>;
constexpr double kShares[] = {0, 0.05, 0.5, 0.95, 0.99, 1};

// The percentile by nearest rank, the slow way.
std::int64_t Naive(Values values, double share) {
  std::ranges::sort(values);
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[rank < 1 ? 0 : static_cast<std::size_t>(rank) - 1];
}

void ExpectAsNaive(const Values& values, std::size_t window, const std::vector<std::size_t>& ends) {
  const auto rows = SlidePercentiles(values, window, ends, kShares);
  ASSERT_EQ(rows.size(), std::size(kShares));
  for (std::size_t share = 0; share < rows.size(); ++share) {
    ASSERT_EQ(rows[share].size(), ends.size());
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const std::size_t begin = ends[i] > window ? ends[i] - window : 0;
      const Values part(values.begin() + static_cast<std::ptrdiff_t>(begin),
                        values.begin() + static_cast<std::ptrdiff_t>(ends[i]));
      ASSERT_EQ(rows[share][i], Naive(part, kShares[share])) << window << " " << ends[i];
    }
  }
}

// Percentages, a few values, bytes, and both ends of int64: with bins by distance and by place.
TEST(SlidePercentiles, AreThoseOfASortOfEachWindow) {
  std::mt19937_64 dice(1);
  constexpr std::int64_t kRanges[] = {1, 3, 10'001, 16'384, 16'385, 80'000'000'000, INT64_MAX};
  for (int round = 0; round < 140; ++round) {
    const std::int64_t range = kRanges[round % std::size(kRanges)];
    Values values(1 + dice() % 700);
    for (std::int64_t& value : values) {
      value = static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(range)) - range / 2;
    }
    if (round % 3 == 0) values[0] = INT64_MIN;
    const std::size_t first = dice() % values.size();
    ExpectAsNaive(values, 1 + dice() % 300,
                  EvenEnds(first, values.size(), 1 + dice() % values.size()));
  }
}

TEST(SlidePercentiles, TheLargestWindowIsCounted) {
  std::mt19937 dice(2);
  Values values(2 * kMostWindow + 7);
  for (std::int64_t& value : values) value = dice() % 3;
  ExpectAsNaive(values, kMostWindow, {1, kMostWindow, kMostWindow + 1, values.size()});
}

TEST(SlidePercentiles, NoValuesAreNoRows) {
  EXPECT_EQ(SlidePercentiles({}, 5, {}, kShares), std::vector<Values>(std::size(kShares)));
}

TEST(PercentilesOf, AreThoseOfASort) {
  std::mt19937 dice(3);
  Values values(999);
  for (std::int64_t& value : values) value = static_cast<std::int64_t>(dice()) - 1'000'000'000;
  const Values row = PercentilesOf(values, kShares);
  for (std::size_t i = 0; i < row.size(); ++i) EXPECT_EQ(row[i], Naive(values, kShares[i]));
}

TEST(EvenEnds, EndWithTheLastAndNeverStandTwice) {
  EXPECT_EQ(EvenEnds(0, 3, 10), (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(EvenEnds(2, 12, 4), (std::vector<std::size_t>{4, 7, 9, 12}));
  EXPECT_EQ(EvenEnds(5, 5, 4), std::vector<std::size_t>());
}

}  // namespace
}  // namespace stepscope
