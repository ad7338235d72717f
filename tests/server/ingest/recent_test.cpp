#include "server/ingest/recent.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

const SteadyTime kStart{1000s};

TEST(RecentTimes, SaysNothingWithoutAny) {
  EXPECT_EQ(RecentTimes().P95(kStart), Duration::zero());
}

TEST(RecentTimes, NineteenOfTwentyTookAtMostP95) {
  RecentTimes times;
  for (int i = 20; i >= 1; --i) times.Add(kStart, i * 1ms);
  EXPECT_EQ(times.P95(kStart), 19ms);
}

TEST(RecentTimes, OneSlowOneAmongFewIsNoMeasure) {
  RecentTimes times;
  times.Add(kStart, 9s);
  EXPECT_EQ(times.P95(kStart), Duration::zero());
  times.Add(kStart, 1ms);
  EXPECT_EQ(times.P95(kStart), 1ms);
  times.Add(kStart, 8s);
  EXPECT_EQ(times.P95(kStart), 8s);
}

TEST(RecentTimes, ForgetsWhatIsOlderThanAMinute) {
  RecentTimes times;
  times.Add(kStart, 5s);
  times.Add(kStart, 5s);
  times.Add(kStart + 59s, 1ms);
  times.Add(kStart + 59s, 1ms);
  EXPECT_EQ(times.P95(kStart + 60s), 5s);
  EXPECT_EQ(times.P95(kStart + 61s), 1ms);
}

TEST(RecentTimes, KeepsTheNewest) {
  RecentTimes times;
  for (int i = 0; i < 128; ++i) times.Add(kStart, 9s);
  for (int i = 0; i < 128; ++i) times.Add(kStart, 1ms);
  EXPECT_EQ(times.P95(kStart), 1ms);
}

}  // namespace
}  // namespace stepscope
