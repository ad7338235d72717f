#include "rules/signals/budget.h"

#include <gtest/gtest.h>

#include <random>

namespace stepscope {
namespace {

// Whatever a job was like, its budget is all of its time and no part of it is less than nothing.
TEST(TimeByCause, AddsUp) {
  std::mt19937_64 random(7);
  const auto some = [&](double most) {
    return random() % 4 == 0 ? 0.0 : std::uniform_real_distribution<double>(0, most)(random);
  };
  for (int round = 0; round < 10'000; ++round) {
    HostSums host;
    host.busy = some(5000);
    for (std::size_t i = 0; i < kCauses; ++i) {
      host.idle.seconds[i] = some(1000);
      host.host.seconds[i] = some(1000);
    }
    host.idle[Cause::kBusy] = 0;
    RankSums ranks;
    ranks.ranks = random() % 9;
    for (int steps = static_cast<int>(random() % 4); steps > 0; --steps) {
      Step step;
      step.wall = Duration(static_cast<std::int64_t>(some(1e13)));
      for (Duration& phase : step.phases) phase = Duration(static_cast<std::int64_t>(some(4e12)));
      ranks.steps.Add(step);
    }
    const bool tells = random() % 2 == 0;
    const TimeByCause gpu = GpuBudget(host, ranks), step = StepBudget(host, ranks.steps, tells);
    ASSERT_NEAR(gpu.Total(), host.busy + host.idle.Total(), 1e-6 * (1 + gpu.Total()));
    ASSERT_NEAR(step.Total(), std::chrono::duration<double>(ranks.steps.wall()).count(),
                1e-6 * (1 + step.Total()));
    for (const TimeByCause& budget : {gpu, step}) {
      for (const double seconds : budget.seconds) ASSERT_GE(seconds, -1e-6);
    }
    ASSERT_EQ(gpu[Cause::kBusy], host.busy);
  }
}

// Work of the GPU that goes on while the host waits is not lost.
TEST(TimeByCause, StallsThatTheGpuWorkedThroughCostNothing) {
  HostSums host;
  host.busy = 95;
  host.idle[Cause::kUnderUse] = 5;
  host.host[Cause::kUnderUse] = 100;
  RankSums ranks{{}, 1};
  Step step{0, {}, 100s, {}};
  step.phases[static_cast<std::size_t>(Phase::kCommunication)] = 40s;
  ranks.steps.Add(step);
  EXPECT_DOUBLE_EQ(GpuBudget(host, ranks)[Cause::kCommunication], 5);
  EXPECT_DOUBLE_EQ(GpuBudget(host, ranks)[Cause::kBusy], 95);
}

// A training that stands still for 70 of 100 s: its steps kept the GPU busy.
TEST(TimeByCause, IdleTimeBetweenStepsIsNotThatOfTheModel) {
  HostSums host;
  host.busy = 29;
  host.idle[Cause::kUnderUse] = 3;
  host.idle[Cause::kUnknown] = 68;
  host.host = host.idle;
  host.host[Cause::kUnderUse] += 29;
  RankSums ranks{{}, 1};
  ranks.steps.Add(Step{0, {}, 30s, {}});
  const TimeByCause budget = GpuBudget(host, ranks);
  EXPECT_NEAR(budget[Cause::kUnknown], 70 * 68.0 / 71, 1e-9);
  EXPECT_NEAR(budget[Cause::kUnderUse], 1 + 70 * 3.0 / 71, 1e-9);
}

TEST(TimeByCause, AdviceForTheUnknownKnowsOfSteps) {
  EXPECT_NE(AdviceOf(Cause::kUnknown, true).find("operator traces"), std::string_view::npos);
  EXPECT_EQ(AdviceOf(Cause::kUnknown, false), TextOf(Cause::kUnknown).advice);
  EXPECT_EQ(AdviceOf(Cause::kStorage, true), TextOf(Cause::kStorage).advice);
}

TEST(TimeByCause, PhasesThatOverlapCountForNoMoreThanTheSteps) {
  Step step{0, {}, 10s, {}};
  step.phases.fill(9s);
  StepSums sums;
  sums.Add(step);
  const TimeByCause budget = StepBudget(HostSums(), sums, true);
  EXPECT_DOUBLE_EQ(budget.Total(), 10);
  EXPECT_NEAR(budget[Cause::kBusy], 0, 1e-9);
  EXPECT_NEAR(budget[Cause::kCommunication], 10.0 / 6, 1e-9);
}

TEST(TimeByCause, OnlyWhatIsNamedIsComputingWhereNobodyTellsOfWaits) {
  Step step{0, {}, 10s, {}};
  step.phases[static_cast<std::size_t>(Phase::kForward)] = 2s;
  step.phases[static_cast<std::size_t>(Phase::kCommunication)] = 3s;
  StepSums sums;
  sums.Add(step);
  const TimeByCause silent = StepBudget(HostSums(), sums, false);
  EXPECT_NEAR(silent[Cause::kBusy], 2, 1e-9);
  EXPECT_NEAR(silent[Cause::kUnknown], 5, 1e-9);
  EXPECT_NEAR(StepBudget(HostSums(), sums, true)[Cause::kBusy], 7, 1e-9);
}

TEST(TimeByCause, EveryCauseHasItsWords) {
  for (std::size_t i = 0; i < kCauses; ++i) {
    const CauseText& text = TextOf(static_cast<Cause>(i));
    EXPECT_FALSE(text.name.empty() || text.words.empty());
    EXPECT_EQ(text.advice.empty(), static_cast<Cause>(i) == Cause::kBusy) << text.name;
  }
}

}  // namespace
}  // namespace stepscope
