#include "agent/collect/reading_plan.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr ReadingKind kKinds[] = {{"use", 0s, 8}, {"clocks", 5s}, {"counters", 1s}};

struct Plan : testing::Test {
  // Runs so many seconds of ticks, where each reading costs so much; returns how often each was
  // due.
  std::array<int, 3> Run(int seconds, std::array<Duration, 3> costs, Duration interval = 500ms) {
    std::array<int, 3> due{};
    for (const SteadyTime end = now + std::chrono::seconds(seconds); now < end; now += interval) {
      plan.Begin(now);
      for (std::size_t i = 0; i < 3; ++i) {
        if (!plan.Due(i)) continue;
        ++due[i];
        plan.Spend(i, costs[i]);
      }
    }
    return due;
  }

  SteadyTime now{1h};
  ReadingPlan plan{kKinds, 0.001};
};

TEST_F(Plan, KeepsTheShortestPeriodsWhileAllIsCheap) {
  Run(10, {1us, 1us, 1us});
  EXPECT_EQ(Run(60, {1us, 1us, 1us}), (std::array{120, 12, 60}));
  EXPECT_TRUE(plan.Slowed().empty());
}

TEST_F(Plan, IsNotMadeBeforeTheIntervalIsKnown) {
  for (const Duration until_next : {Duration(0), Duration(3ms), Duration(60s)}) {
    plan.Begin(now += until_next);
    EXPECT_TRUE(plan.Slowed().empty());
    if (until_next < 1s) plan.Spend(2, 300us);
  }
  EXPECT_EQ(plan.changes(), 0u);
}

TEST_F(Plan, SlowsTheDearOneFirst) {
  Run(10, {100us, 10us, 2ms});
  const auto due = Run(60, {100us, 10us, 2ms});
  EXPECT_EQ(due[0], 120);
  EXPECT_EQ(due[1], 12);
  EXPECT_LE(due[2] * 2e-3 / 60, 0.0008);
  EXPECT_GE(due[2], 10);
  EXPECT_EQ(plan.Slowed(), (std::vector{SlowedReading{"counters", 4s}}));
  EXPECT_LE(plan.Load(), 0.001);
}

TEST_F(Plan, ReadsOftenAgainWhenItHasBecomeCheap) {
  Run(20, {1us, 1us, 20ms});
  EXPECT_FALSE(plan.Slowed().empty());
  Run(300, {1us, 1us, 10us});
  EXPECT_TRUE(plan.Slowed().empty());
}

TEST_F(Plan, IsNotDisturbedByOneSlowReading) {
  Run(10, {10us, 10us, 100us});
  plan.Begin(now);
  plan.Spend(2, 1s);
  EXPECT_TRUE(plan.Slowed().empty());
}

TEST_F(Plan, ReadsOnceAMinuteAtLeastWhateverItCosts) {
  Run(200, {1s, 1s, 1s});
  const auto due = Run(600, {1s, 1s, 1s});
  for (const int each : due) EXPECT_GE(each, 9);
  EXPECT_EQ(plan.Slowed().size(), 3u);
}

TEST_F(Plan, FollowsTheInterval) {
  Run(5, {1us, 1us, 1us});
  EXPECT_GE(Run(10, {1us, 1us, 1us}, 100ms)[0], 95);
  Run(60, {1us, 1us, 1us}, 20s);
  EXPECT_EQ(plan.PeriodOf(1), 20s);
  EXPECT_TRUE(plan.Slowed().empty());
}

TEST_F(Plan, IsDueTwiceAtOnceSoThatRatesAreKnown) {
  for (int i = 0; i < 3; ++i) {
    plan.Begin(now += 500ms);
    EXPECT_EQ(plan.Due(1), i < 2);
  }
}

}  // namespace
}  // namespace stepscope
