#include "agent/frames/rank_metrics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepscope {
namespace {

struct RankMetricsTest : testing::Test {
  void Tick() {
    row.Clear();
    ASSERT_TRUE(metrics.Collect({}, row).ok());
  }

  std::vector<RankMetric> said;
  RankMetrics metrics{[this](const UseMetric& use) {
    for (const RankMetric& one : std::exchange(said, {})) use(one.rank, one.metric, one.value);
  }};
  TickRow row;
};

TEST_F(RankMetricsTest, AreASeriesOfEachRankAndName) {
  said = {{0, "user.loss", 2.5}, {3, "user.loss", 1.5}, {3, "user.samples_per_second", 1480}};
  Tick();
  EXPECT_EQ(row.size(), 3u);
  EXPECT_EQ(row.At("user.loss", "rank0"), 2.5);
  EXPECT_EQ(row.At("user.loss", "rank3"), 1.5);
  EXPECT_EQ(row.At("user.samples_per_second", "rank3"), 1480);
}

TEST_F(RankMetricsTest, HaveNoSampleWhereTheyWereNotSet) {
  said = {{0, "user.loss", 2.5}};
  Tick();
  Tick();
  EXPECT_TRUE(std::isnan(row.At("user.loss", "rank0")));
  said = {{0, "user.loss", 3e-6}};
  Tick();
  EXPECT_DOUBLE_EQ(row.At("user.loss", "rank0"), 3e-6);
  EXPECT_EQ(row.size(), 1u);
}

TEST_F(RankMetricsTest, LeaveOutWhatDoesNotFit) {
  said = {{0, "user.flops", 3.125e14}, {1, "user.flops", 1}};
  Tick();
  EXPECT_DOUBLE_EQ(row.At("user.flops", "rank0"), 3.125e14);
  said = {{0, "user.flops", 1e30}, {1, "user.flops", 2}};
  Tick();
  EXPECT_TRUE(std::isnan(row.At("user.flops", "rank0")));
  EXPECT_EQ(row.At("user.flops", "rank1"), 2);
}

}  // namespace
}  // namespace stepscope
