#include "rules/diagnosis/budget.h"

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
    for (SampleMean* mean :
         {&host.thread_percent, &host.thread_waits, &host.loaders, &host.loader_percent,
          &host.loader_waits, &host.cpu_percent, &host.sent_megabytes, &host.throttled_percent}) {
      if (random() % 2 == 0) mean->Add(some(200));
    }
    RankSums ranks;
    ranks.ranks = random() % 9;
    for (int steps = static_cast<int>(random() % 4); steps > 0; --steps) {
      Step step;
      step.wall = Duration(static_cast<std::int64_t>(some(1e13)));
      for (Duration& phase : step.phases) phase = Duration(static_cast<std::int64_t>(some(4e12)));
      step.evaluation = Duration(static_cast<std::int64_t>(some(1e13)));
      if (random() % 3 > 0) step.gpu_idle = Duration(static_cast<std::int64_t>(some(2e13)));
      ranks.steps.Add(step);
      ranks.gpu.Add(step);
    }
    const TimeByCause gpu = GpuBudget(host, ranks), step = StepBudget(host, ranks.steps);
    ASSERT_NEAR(gpu.Total(), host.busy + host.idle.Total(), 1e-6 * (1 + gpu.Total()));
    ASSERT_NEAR(step.Total(), ToSeconds(ranks.steps.wall() + ranks.steps.evaluation()),
                1e-6 * (1 + step.Total()));
    for (const TimeByCause& budget : {gpu, step}) {
      for (const double seconds : budget.seconds) ASSERT_GE(seconds, -1e-6);
    }
    if (ranks.gpu.steps.steps() == 0 && ranks.steps.evaluation() == 0ns) {
      ASSERT_NEAR(gpu[Cause::kBusy], host.busy, 1e-6 * (1 + host.busy));
    }
  }
}

// Work of the GPU that goes on while the host waits is not lost.
TEST(TimeByCause, StallsThatTheGpuWorkedThroughCostNothing) {
  HostSums host;
  host.busy = 95;
  host.idle[Cause::kUnderUse] = 5;
  host.host[Cause::kUnderUse] = 100;
  RankSums ranks{{}, {}, 1};
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
  RankSums ranks{{}, {}, 1};
  ranks.steps.Add(Step{0, {}, 30s, {}});
  const TimeByCause budget = GpuBudget(host, ranks);
  EXPECT_NEAR(budget[Cause::kUnknown], 70 * 68.0 / 71, 1e-9);
  EXPECT_NEAR(budget[Cause::kUnderUse], 1 + 70 * 3.0 / 71, 1e-9);
}

TEST(TimeByCause, AdviceForTheUnknownKnowsOfSteps) {
  EXPECT_NE(AdviceOf(Cause::kUnknown, true).find("stepscope.phase"), std::string_view::npos);
  EXPECT_EQ(AdviceOf(Cause::kUnknown, false), TextOf(Cause::kUnknown).advice);
  EXPECT_EQ(AdviceOf(Cause::kStorage, true), TextOf(Cause::kStorage).advice);
}

TEST(TimeByCause, PhasesThatOverlapCountForNoMoreThanTheSteps) {
  Step step{0, {}, 10s, {}};
  step.phases.fill(9s);
  StepSums sums;
  sums.Add(step);
  const TimeByCause budget = StepBudget(HostSums(), sums);
  EXPECT_DOUBLE_EQ(budget.Total(), 10);
  EXPECT_NEAR(budget[Cause::kBusy], 0, 1e-9);
  EXPECT_NEAR(budget[Cause::kCommunication], 10.0 / 8, 1e-9);
}

TEST(TimeByCause, OnlyWhatIsNamedIsComputingWithoutAGpu) {
  Step step{0, {}, 10s, {}};
  step.phases[static_cast<std::size_t>(Phase::kForward)] = 2s;
  step.phases[static_cast<std::size_t>(Phase::kCommunication)] = 3s;
  StepSums sums;
  sums.Add(step);
  const TimeByCause budget = StepBudget(HostSums(), sums);
  EXPECT_NEAR(budget[Cause::kBusy], 2, 1e-9);
  EXPECT_NEAR(budget[Cause::kUnknown], 5, 1e-9);
}

// 100 s of a GPU and of the steps of one rank, `named` of a step in phases.
struct GpuTrace {
  GpuTrace(double busy, std::initializer_list<std::pair<Phase, Duration>> named) {
    host.busy = busy;
    host.idle[Cause::kUnderUse] = 100 - busy;
    host.host[Cause::kUnderUse] = 100;
    step.wall = 100s;
    for (const auto& [phase, length] : named) step.phases[static_cast<std::size_t>(phase)] = length;
  }
  TimeByCause Budget() const {
    RankSums ranks{{}, {}, 1};
    ranks.steps.Add(step);
    ranks.gpu.Add(step);
    return GpuBudget(host, ranks);
  }

  HostSums host;
  Step step;
};

TEST(TimeByCause, UnnamedTimeOfAStepIsOutputProcessingWhereTheThreadComputes) {
  GpuTrace trace(68, {{Phase::kForward, 28s}, {Phase::kBackward, 40s}});
  trace.host.thread_percent.Add(61);
  EXPECT_NEAR(trace.Budget()[Cause::kCallbacks], 32, 1e-9);
  trace.host.thread_percent = {};
  trace.host.thread_percent.Add(25);  // it sleeps there: nobody knows for what
  EXPECT_NEAR(trace.Budget()[Cause::kCallbacks], 0, 1e-9);
  EXPECT_NEAR(trace.Budget()[Cause::kUnknown], 32, 1e-9);
}

TEST(TimeByCause, UnnamedTimeInWhichMuchIsSentIsACopyFromTheGpu) {
  GpuTrace trace(41, {{Phase::kForward, 28s}, {Phase::kBackward, 32s}});
  trace.host.thread_percent.Add(73);
  trace.host.sent_megabytes.Add(2'100);
  const TimeByCause budget = trace.Budget();
  EXPECT_NEAR(budget[Cause::kFromDevice], 40, 1e-9);
  EXPECT_NEAR(budget[Cause::kUnderUse], 19, 1e-9);
}

TEST(TimeByCause, UnnamedTimeInWhichTheGpuWorksIsNothing) {
  GpuTrace trace(98, {{Phase::kForward, 30s}, {Phase::kBackward, 20s}});
  trace.host.thread_percent.Add(90);
  EXPECT_NEAR(trace.Budget()[Cause::kBusy], 98, 1e-9);
  EXPECT_NEAR(trace.Budget()[Cause::kCallbacks], 2, 1e-9);
}

// The host waits 60 s for data while the GPU works through its queue.
TEST(TimeByCause, OnlyWhatReachesTheGpuIsLostToData) {
  GpuTrace trace(70, {{Phase::kData, 60s}, {Phase::kForward, 40s}});
  trace.host.loaders.Add(4), trace.host.loader_percent.Add(95);
  trace.step.gpu_idle = 10s;
  const TimeByCause budget = trace.Budget();
  EXPECT_NEAR(budget[Cause::kPreprocessing], 9.5, 1e-9);
  EXPECT_NEAR(budget[Cause::kRawInput], 0.5, 1e-9);
  EXPECT_NEAR(budget[Cause::kUnderUse], 20, 1e-9);
}

TEST(TimeByCause, AGpuThatItsOwnClockSawIdleWasNotBusy) {
  GpuTrace trace(100, {{Phase::kSync, 50s}, {Phase::kForward, 50s}});
  trace.step.gpu_idle = 45s;
  const TimeByCause budget = trace.Budget();
  EXPECT_NEAR(budget[Cause::kSynchronisation], 45, 1e-9);
  EXPECT_NEAR(budget[Cause::kBusy], 55, 1e-9);
}

TEST(TimeByCause, IdleTimeThatNoWaitFillsWentToLaunching) {
  GpuTrace trace(60, {{Phase::kCallback, 5s}, {Phase::kForward, 95s}});
  trace.step.gpu_idle = 30s;
  const TimeByCause budget = trace.Budget();
  EXPECT_NEAR(budget[Cause::kCallbacks], 5, 1e-9);
  EXPECT_NEAR(budget[Cause::kFrameworkOverhead], 25, 1e-9);
}

Step StepOf(Duration wall, Phase phase, Duration in_phase, std::optional<Duration> idle) {
  Step step{0, {}, wall, {}};
  step.phases[static_cast<std::size_t>(phase)] = in_phase;
  step.gpu_idle = idle;
  return step;
}

// Of short steps the clock times one of many, at random.
TEST(GpuIdleSums, StepsThatWereTimedStandForAllOfTheirKind) {
  GpuIdleSums gpu;
  StepSums all;
  for (int i = 0; i < 400; ++i) {
    const auto idle = i % 10 == 0 ? std::optional<Duration>(20ms) : std::nullopt;
    gpu.Add(StepOf(100ms, Phase::kData, 60ms, idle));
    all.Add(StepOf(100ms, Phase::kData, 60ms, idle));
  }
  EXPECT_TRUE(gpu.IsEnoughFor(all));
  EXPECT_NEAR(gpu.Of(all).Total(), 8, 1e-9);
}

TEST(GpuIdleSums, ARareStepThatWasNotTimedCountsWhole) {
  GpuIdleSums gpu;
  StepSums all;
  for (int i = 0; i < 400; ++i) {
    const bool timed = i % 10 == 0, saves = i % 100 == 55;
    const Step step = StepOf(saves ? 2s : 100ms, Phase::kCheckpoint, saves ? 1900ms : 0ms,
                             timed ? std::optional<Duration>(Duration::zero()) : std::nullopt);
    gpu.Add(step);
    all.Add(step);
  }
  EXPECT_NEAR(gpu.Of(all)[Cause::kStorage], 7.6, 1e-9);
  EXPECT_NEAR(gpu.Of(all).Total(), 7.6, 1e-9);
}

TEST(GpuIdleSums, AFewTimedStepsAreNotEnough) {
  GpuIdleSums gpu;
  StepSums all;
  EXPECT_FALSE(gpu.IsEnoughFor(all));
  EXPECT_EQ(gpu.Of(all).Total(), 0);
  for (int i = 0; i < 4000; ++i) all.Add(StepOf(100ms, Phase::kData, 60ms, std::nullopt));
  for (int i = 0; i < 15; ++i) gpu.Add(StepOf(100ms, Phase::kData, 60ms, 20ms));
  EXPECT_FALSE(gpu.IsEnoughFor(all)) << "too few to tell";
  for (int i = 0; i < 15; ++i) gpu.Add(StepOf(100ms, Phase::kData, 60ms, 20ms));
  EXPECT_FALSE(gpu.IsEnoughFor(all)) << "the clock was soon given up";
}

// A model that was not moved to the GPUs computes on the host.
TEST(TimeByCause, StepsThatComputeWhileTheGpusSleepComputeOnTheCpu) {
  GpuTrace trace(0, {{Phase::kForward, 40s}, {Phase::kBackward, 60s}});
  EXPECT_NEAR(trace.Budget()[Cause::kOnCpu], 100, 1e-9);
  GpuTrace nameless(0, {});
  EXPECT_EQ(nameless.Budget()[Cause::kOnCpu], 0);
  GpuTrace used(10, {{Phase::kForward, 40s}, {Phase::kBackward, 60s}});
  EXPECT_EQ(used.Budget()[Cause::kOnCpu], 0);
}

TEST(TimeByCause, ALateRankCostsWhatItDoesLongerAndTheWaitsForIt) {
  TimeByCause budget;
  budget[Cause::kBusy] = 40, budget[Cause::kCallbacks] = 30, budget[Cause::kPreprocessing] = 30;
  TimeByCause outside = budget, data = budget, computing = budget;
  MoveToLateRank(outside, {0.2, 0.25, {}});
  EXPECT_NEAR(outside[Cause::kLateRank], 45, 1e-9);
  EXPECT_NEAR(outside[Cause::kCallbacks], 5, 1e-9);
  MoveToLateRank(data, {0.2, 0.25, Phase::kData});
  EXPECT_NEAR(data[Cause::kPreprocessing], 5, 1e-9);
  MoveToLateRank(computing, {0.2, 0.25, Phase::kForward});
  EXPECT_NEAR(computing[Cause::kLateRank], 20, 1e-9) << "computing is not lost";
  EXPECT_NEAR(computing.Total(), 100, 1e-9);
}

TEST(TimeByCause, EvaluationsTakeTheirPartOfAllTime) {
  GpuTrace trace(90, {{Phase::kForward, 20s}});
  trace.step.wall = 20s;
  trace.step.evaluation = 80s;
  const TimeByCause budget = trace.Budget();
  EXPECT_NEAR(budget[Cause::kEvaluation], 80, 1e-9);
  EXPECT_NEAR(budget[Cause::kBusy], 18, 1e-9);
  StepSums steps;
  steps.Add(trace.step);
  EXPECT_NEAR(StepBudget(HostSums(), steps)[Cause::kEvaluation], 80, 1e-9);
}

TEST(TimeByCause, LoadersThatComputeArePreprocessingAndLoadersThatSleepRawInput) {
  for (const auto& [percent, cause] :
       {std::pair{90.0, Cause::kPreprocessing}, {5.0, Cause::kRawInput}}) {
    GpuTrace trace(25, {{Phase::kData, 75s}, {Phase::kForward, 25s}});
    trace.host.loaders.Add(4), trace.host.loader_percent.Add(percent);
    EXPECT_GT(trace.Budget()[cause], 67) << percent;
  }
}

TEST(TimeByCause, WithoutLoadersTheTrainingThreadTells) {
  for (const auto& [percent, cause] :
       {std::pair{85.0, Cause::kPreprocessing}, {9.0, Cause::kRawInput}}) {
    GpuTrace trace(16, {{Phase::kData, 84s}, {Phase::kForward, 16s}});
    trace.host.loaders.Add(0), trace.host.thread_percent.Add(percent);
    EXPECT_GT(trace.Budget()[cause], 60) << percent;
  }
}

// A core that somebody keeps busy proves nothing where the loaders sleep.
TEST(TimeByCause, CoresThatAreFullLetLoadersWait) {
  GpuTrace trace(25, {{Phase::kData, 75s}, {Phase::kForward, 25s}});
  trace.host.loaders.Add(8), trace.host.loader_percent.Add(30), trace.host.cpu_percent.Add(97);
  EXPECT_GT(trace.Budget()[Cause::kPreprocessing], 50);
  trace.host.cpu_percent = {};
  EXPECT_LT(trace.Budget()[Cause::kPreprocessing], 30);
}

// A training thread that waits for a core computes less than it would.
TEST(TimeByCause, CoresThatAreFullLetTheTrainingThreadWait) {
  GpuTrace trace(15, {{Phase::kData, 85s}, {Phase::kForward, 15s}});
  trace.host.loaders.Add(0), trace.host.thread_percent.Add(35);
  EXPECT_LT(trace.Budget()[Cause::kPreprocessing], 40);
  trace.host.cpu_percent.Add(97);
  EXPECT_GT(trace.Budget()[Cause::kPreprocessing], 60);
  trace.host.thread_percent = {};
  trace.host.thread_percent.Add(10);  // it sleeps, whoever fills the cores
  EXPECT_LT(trace.Budget()[Cause::kPreprocessing], 10);
}

// The kernel tells how long the thread waited for a core, also on a node that has cores left: a
// container has fewer.
TEST(TimeByCause, WaitsForACoreAreNoWaitsForData) {
  GpuTrace trace(15, {{Phase::kData, 85s}, {Phase::kForward, 15s}});
  trace.host.loaders.Add(0), trace.host.thread_percent.Add(35), trace.host.cpu_percent.Add(40);
  trace.host.thread_waits.Add(55);
  EXPECT_GT(trace.Budget()[Cause::kPreprocessing], 70);
  GpuTrace loaders(15, {{Phase::kData, 85s}, {Phase::kForward, 15s}});
  loaders.host.loaders.Add(2), loaders.host.loader_percent.Add(30);
  loaders.host.loader_waits.Add(60);
  EXPECT_GT(loaders.Budget()[Cause::kPreprocessing], 70);
  // A thread that sleeps on a full node is known to, and is not guessed to wait for a core.
  trace.host.thread_waits = {};
  trace.host.thread_waits.Add(1), trace.host.cpu_percent.Add(154);
  EXPECT_LT(trace.Budget()[Cause::kPreprocessing], 40);
}

// Gradients are exchanged in threads of their own, for which the training thread waits.
TEST(TimeByCause, ABackwardPassInWhichTheThreadSleepsIsCommunicationOfRanks) {
  Step step{0, {}, 10s, {}};
  step.phases[static_cast<std::size_t>(Phase::kBackward)] = 9s;
  StepSums sums;
  sums.Add(step);
  HostSums host;
  host.thread_percent.Add(20);
  EXPECT_NEAR(StepBudget(host, sums, true)[Cause::kCommunication], 7, 1e-9);
  EXPECT_NEAR(StepBudget(host, sums, true)[Cause::kBusy], 2, 1e-9);
  EXPECT_NEAR(StepBudget(host, sums)[Cause::kBusy], 9, 1e-9);
}

TEST(TimeByCause, StepsThatAQuotaStopsAreNotComputing) {
  Step step{0, {}, 10s, {}};
  step.phases[static_cast<std::size_t>(Phase::kForward)] = 10s;
  StepSums sums;
  sums.Add(step);
  HostSums host;
  host.throttled_percent.Add(95);
  EXPECT_NEAR(StepBudget(host, sums)[Cause::kThrottled], 9.5, 1e-9);
  host.thread_percent.Add(20);  // of each period before it was stopped
  EXPECT_NEAR(StepBudget(host, sums)[Cause::kThrottled], 8, 1e-9);
  EXPECT_NEAR(StepBudget(host, sums)[Cause::kBusy], 2, 1e-9);
}

// GPUs wait for a thread that a quota stopped; time that a phase explains stays with its cause.
TEST(TimeByCause, GpusThatWaitForAStoppedThreadAreNotToBlame) {
  Step step{0, {}, 100s, {}};
  step.phases[static_cast<std::size_t>(Phase::kData)] = 10s;
  step.phases[static_cast<std::size_t>(Phase::kForward)] = 90s;
  RankSums ranks{{}, {}, 1};
  ranks.steps.Add(step);
  HostSums host;
  host.busy = 40;
  host.idle[Cause::kUnderUse] = 60;
  host.host[Cause::kUnderUse] = 100;
  const TimeByCause free = GpuBudget(host, ranks);
  EXPECT_EQ(free[Cause::kThrottled], 0);
  EXPECT_NEAR(free[Cause::kUnderUse], 50, 1e-9);
  host.throttled_percent.Add(94);
  host.thread_percent.Add(40);
  const TimeByCause held = GpuBudget(host, ranks);
  EXPECT_NEAR(held[Cause::kThrottled], 30, 1e-9);  // 60 % of what is idle while it computes
  EXPECT_NEAR(held[Cause::kUnderUse], 20, 1e-9);
  EXPECT_NEAR(held[Cause::kRawInput] + held[Cause::kPreprocessing], 10, 1e-9);
  EXPECT_NEAR(held[Cause::kBusy], 40, 1e-9);
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
