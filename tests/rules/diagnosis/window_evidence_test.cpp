#include "rules/diagnosis/window_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace stepscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Eight steps of 100 ms on a device that computes for half of the time.
WindowFacts Launching(std::int64_t window = 1, int rank = 0) {
  WindowFacts facts{.window = window, .rank = rank, .of_device = true, .steps = 8};
  facts.step_s = 0.1;
  facts.wall_s = 0.8;
  facts.computing_s = 0.4;
  facts.host_late_s = 0.3;
  facts.short_gap_s = 0.1;
  facts.short_kernels = 0.9;
  return facts;
}

TimeByCause Guessed() {
  TimeByCause budget;
  budget[Cause::kBusy] = 60;
  budget[Cause::kUnderUse] = 20;
  budget[Cause::kRawInput] = 10;
  budget[Cause::kStorage] = 6;
  budget[Cause::kUnknown] = 4;
  return budget;
}

TEST(WindowEvidence, ReplacesTheGuessForTheTimeThatItSaw) {
  TimeByCause budget = Guessed();
  TakeWindows(SumWindows(std::vector{Launching()}, 0.1), false, budget);
  EXPECT_DOUBLE_EQ(budget[Cause::kBusy], 40);
  EXPECT_DOUBLE_EQ(budget[Cause::kFrameworkOverhead], 30);
  EXPECT_DOUBLE_EQ(budget[Cause::kUnderUse], 10);
  EXPECT_DOUBLE_EQ(budget[Cause::kRawInput], 10) << "waits for data are known of all steps";
  EXPECT_DOUBLE_EQ(budget[Cause::kStorage], 6) << "what is seldom is in no window";
  EXPECT_DOUBLE_EQ(budget[Cause::kUnknown], 4);
}

TEST(WindowEvidence, ByTheGpuSClockOnlyTheGuessIsDivided) {
  TimeByCause budget = Guessed();
  TakeWindows(SumWindows(std::vector{Launching()}, 0.1), true, budget);
  EXPECT_DOUBLE_EQ(budget[Cause::kBusy], 60);
  EXPECT_DOUBLE_EQ(budget[Cause::kFrameworkOverhead], 15);
  EXPECT_DOUBLE_EQ(budget[Cause::kUnderUse], 5);
}

// A training that copies all its weights to the host in each step, on an H100: 38 % of its time was
// in these copies. Its steps took 52 ms, and 74 ms under the profiler.
TEST(WindowEvidence, WhatTheProfilerCostsIsNotTheFramework) {
  WindowFacts window{.window = 1, .of_device = true, .steps = 8};
  window.step_s = 0.0739;
  window.wall_s = 0.5914;
  window.computing_s = 0.1231;
  window.copies_s = 0.0886;
  window.host_late_s = 0.3087;
  window.host_sync_s = 0.0621;
  window.short_gap_s = 0.0079;
  window.other_idle_s = 0.0009;
  window.to_host = 1;
  window.waits_in_copies = 0.97;
  TimeByCause budget;
  budget[Cause::kBusy] = 100;
  TakeWindows(SumWindows(std::vector{window}, 0.0521), false, budget);
  EXPECT_NEAR(budget[Cause::kFromDevice], 36, 2);
  EXPECT_NEAR(budget[Cause::kFrameworkOverhead], 32, 2);
  EXPECT_NEAR(budget[Cause::kBusy], 29.5, 2);
}

// Marks tell of all steps, a window of a few.
TEST(WindowEvidence, WhatMarksMeasuredStays) {
  TimeByCause budget = Guessed();
  budget[Cause::kFromDevice] = 30;
  TakeWindows(SumWindows(std::vector{Launching()}, 0.1), false, budget);
  EXPECT_DOUBLE_EQ(budget[Cause::kFromDevice], 30);
  EXPECT_DOUBLE_EQ(budget[Cause::kBusy], 40);
}

TEST(WindowEvidence, WaitsInCallsThatCopyGoWhereTheCopiesGo) {
  WindowFacts window = Launching();
  window.computing_s = 0.2;
  window.host_late_s = window.short_gap_s = 0;
  window.host_sync_s = 0.4;
  window.copies_s = 0.2;
  window.waits_in_copies = 0.75;
  window.to_host = 0.6;
  window.to_device = 0.2;
  TimeByCause budget;
  budget[Cause::kUnderUse] = 80;
  TakeWindows(SumWindows(std::vector{window}, 0.1), false, budget);
  EXPECT_NEAR(budget[Cause::kSynchronisation], 10, 1e-9);
  EXPECT_NEAR(budget[Cause::kFromDevice], 50 * 0.75, 1e-9);
  EXPECT_NEAR(budget[Cause::kToDevice], 50 * 0.25, 1e-9);
}

TEST(WindowEvidence, SaysWhatItRestsOn) {
  const auto evidence = SumWindows(std::vector{Launching(3, 0), Launching(3, 1)}, 0.1);
  EXPECT_EQ(SentenceOf(evidence),
            "In 8 steps of window 3 the GPUs computed 50.0 % of the time, waited for launches "
            "37.5 %, idled in gaps of less than 10 us 12.5 %; 90 % of the kernels run for less "
            "than 10 us.");
  EXPECT_EQ(ToJson(evidence)["windows"], Json::array({"3"}));
  EXPECT_EQ(ToJson(evidence)["ranks"], 2);
  EXPECT_NEAR(evidence.LaunchBound(), 0.5, 1e-12);
  EXPECT_EQ(SentenceOf(WindowEvidence()), "");
  WindowFacts later = Launching(4);
  later.steps = 5;
  const auto both = SumWindows(std::vector{Launching(3, 0), later, Launching(3, 1)}, 0.1);
  EXPECT_EQ(both.sum.steps, 13) << "ranks of a window have the same steps";
}

TEST(WindowEvidence, StepsOfAnotherLengthAndHalfStepsAreNone) {
  WindowFacts half = Launching(2);
  half.steps = 1;
  const auto evidence = SumWindows(std::vector{Launching(1), half}, 0.04);
  EXPECT_FALSE(evidence.any());
  EXPECT_THAT(evidence.unused, ElementsAre(HasSubstr("took 2.5 times as long as the job's"),
                                           HasSubstr("has 1 whole steps")));
  TimeByCause budget = Guessed();
  TakeWindows(evidence, false, budget);
  EXPECT_EQ(budget.seconds, Guessed().seconds);
}

TEST(WindowEvidence, WindowsOfAHostSayNothingOfGpus) {
  WindowFacts host = Launching(2);
  host.of_device = false;
  const auto alone = SumWindows(std::vector{host}, 0.1);
  TimeByCause budget = Guessed();
  TakeWindows(alone, false, budget);
  EXPECT_EQ(budget.seconds, Guessed().seconds);
  EXPECT_EQ(SentenceOf(alone),
            "In 8 steps of window 2 operators of the CPU ran 50.0 % of the time.");
  EXPECT_THAT(SumWindows(std::vector{host, Launching(1)}, 0.1).windows, ElementsAre(1));
}

// Whatever a window says, the time stays as much as it was and no part of it becomes less than 0.
TEST(WindowEvidence, TheBudgetAddsUp) {
  std::mt19937_64 random(11);
  const auto some = [&](double most) {
    return random() % 3 == 0 ? 0.0 : std::uniform_real_distribution<double>(0, most)(random);
  };
  for (int round = 0; round < 5'000; ++round) {
    WindowFacts facts{.window = 1, .of_device = true, .steps = 4};
    facts.step_s = 1;
    for (const auto& [name, part] : WindowFacts::kParts) {
      facts.*part = some(1);
      facts.wall_s += facts.*part;
    }
    facts.to_host = some(1);
    facts.to_device = some(1 - facts.to_host);
    facts.waits_in_copies = some(1);
    TimeByCause budget;
    for (double& each : budget.seconds) each = some(100);
    const double total = budget.Total();
    TakeWindows(SumWindows(std::vector{facts}, 1), random() % 2 == 0, budget);
    ASSERT_NEAR(budget.Total(), total, 1e-9 * (1 + total));
    for (const double each : budget.seconds) ASSERT_GE(each, 0);
  }
}

}  // namespace
}  // namespace stepscope
