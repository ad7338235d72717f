#include "rules/ranks/late_rank.h"
#include "rules/ranks/late_words.h"

#include <gtest/gtest.h>

#include "tests/rules/ranks/lock_step.h"

namespace stepscope::scenarios {
namespace {

// Shows a job to the signal, with a scan each minute; its state is saved and loaded behind each.
LateRank::Judgement Judged(const Job& job, std::string* state = nullptr) {
  auto late = std::make_unique<LateRank>(job.facts);
  Time last = job.origin;
  for (const NodeTicks& node : job.nodes) last = std::max(last, FromMicros(node.at_us.back()));
  std::vector<std::size_t> steps(job.ranks.size()), ticks(job.nodes.size());
  for (Time from = job.origin; from < last; from += 60s) {
    const Time end = std::min(from + 60s, last);
    for (std::size_t i = 0; i < job.ranks.size(); ++i) {
      const RankSteps& rank = job.ranks[i];
      std::size_t to = steps[i];
      while (to < rank.steps.size() && EndedAt(rank.steps[to]) <= end) ++to;
      late->Observe(
          StepView{rank.rank, rank.node, std::span(rank.steps).subspan(steps[i], to - steps[i])});
      steps[i] = to;
    }
    for (std::size_t i = 0; i < job.nodes.size(); ++i) {
      const NodeTicks& node = job.nodes[i];
      TickView view{node.node, node.at_us, node.series, node.columns, ticks[i], ticks[i]};
      while (view.end < node.at_us.size() && view.At(view.end) < end) ++view.end;
      late->Observe(view);
      ticks[i] = view.end;
    }
    late->Scan(end);
    const std::string saved = SaveFields(*late);
    late = std::make_unique<LateRank>(job.facts);
    EXPECT_TRUE(LoadFields(saved, *late).ok());
    if (state != nullptr) *state = saved;
  }
  return late->Judge();
}

LateRank::Judgement Judged(const LockStep& made) {
  return Judged(MakeJob(made));
}

// What is said: the sentence, the reason, or that all are alike.
std::string Said(const LateRank::Judgement& judged) {
  if (judged.found) return Sentence(*judged.found);
  return judged.reason.empty() ? "alike" : judged.reason;
}

int LateOf(const LateRank::Judgement& judged) {
  return judged.found ? judged.found->rank : -1;
}

constexpr std::string_view kAllAsleep =
    "the training threads sleep for a part of the forward and the backward pass, all alike: a rank "
    "that sleeps there looks like one that waits";
constexpr std::string_view kHidden =
    "waits for other ranks are in the backward pass or on the GPU's queue, so all ranks look "
    "alike; "
    "that needs operator traces";

LockStep Late(int late, std::function<void(OwnWork&)> work) {
  LockStep made;
  made.change = [=](int rank, std::int64_t, OwnWork& of) {
    if (rank == late) work(of);
  };
  return made;
}

TEST(LateRank, IsTheOneThatWaitsForData) {
  const auto judged = Judged(Late(1, [](OwnWork& work) { work.Sleep(Phase::kData, 50ms); }));
  ASSERT_TRUE(judged.found) << judged.reason;
  EXPECT_EQ(judged.found->rank, 1);
  EXPECT_NEAR(judged.found->lost, 1.0 / 3, 0.005);
  EXPECT_TRUE(judged.found->active);
  EXPECT_NEAR(judged.found->late, 1, 0.01);
  EXPECT_EQ(Sentence(*judged.found),
            "Rank 1 on node node-0 is late: it works 50 ms longer than the median rank on a step "
            "(33 % of it), mostly data; the others wait for it in backward.");
}

// With DDP the others wait in forward, for buffers, in backward, for gradients, or in a call.
TEST(LateRank, IsTheSameWhereverTheOthersWait) {
  for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kCommunication}) {
    for (const bool spins : {false, true}) {
      LockStep made = Late(2, [](OwnWork& work) { work.Sleep(Phase::kData, 50ms); });
      made.waits = phase;
      made.spins = spins;
      made.gloo = !spins;
      const auto judged = Judged(made);
      ASSERT_TRUE(judged.found) << ToText(phase) << judged.reason;
      EXPECT_EQ(judged.found->rank, 2);
      EXPECT_EQ(judged.found->what, "data");
      EXPECT_EQ(judged.found->waits, ToText(phase));
    }
  }
}

TEST(LateRank, IsTheOneWhoseThreadRunsWhileTheOthersSleep) {
  for (const int ranks : {2, 4}) {
    LockStep made = Late(1, [](OwnWork& work) { work.Add(Phase::kForward, 50ms); });
    made.ranks = ranks;
    const auto judged = Judged(made);
    ASSERT_TRUE(judged.found) << judged.reason;
    EXPECT_EQ(judged.found->rank, 1);
    EXPECT_NEAR(judged.found->lost, 1.0 / 3, 0.01);
    EXPECT_EQ(judged.found->what, "its own work in forward");
    EXPECT_EQ(judged.found->waits, "backward");
  }
}

// In backward the others wait as long as the late rank works.
TEST(LateRank, WorksLongerInBackwardThanTheOthersThatWaitThere) {
  const auto judged = Judged(Late(0, [](OwnWork& work) { work.Add(Phase::kBackward, 50ms); }));
  ASSERT_TRUE(judged.found) << judged.reason;
  EXPECT_EQ(judged.found->rank, 0);
  EXPECT_EQ(judged.found->what, "its own work in backward");
  EXPECT_EQ(judged.found->waits, "");
}

TEST(LateRank, IsUnknownWhereItSleepsInForward) {
  EXPECT_EQ(Said(Judged(Late(1, [](OwnWork& work) { work.Sleep(Phase::kForward, 50ms); }))),
            kAllAsleep);
}

// Threads that wait on NCCL run: equal use of the CPU proves nothing.
TEST(LateRank, IsUnknownWhereThreadsRunWhileTheyWait) {
  LockStep made = Late(1, [](OwnWork& work) { work.Add(Phase::kForward, 50ms); });
  made.spins = true;
  Job job = MakeJob(made);
  for (RankFacts& facts : job.facts.ranks) facts.sleeps_in_waits = false;
  EXPECT_EQ(Said(Judged(job)), kHidden);
}

TEST(LateRank, IsUnknownWithoutSamplesOfThreads) {
  LockStep made = Late(1, [](OwnWork& work) { work.Add(Phase::kForward, 50ms); });
  made.threads = 0;
  EXPECT_EQ(Said(Judged(made)), kHidden);
}

TEST(LateRank, IsNobodyWhereThreadsHardlySleep) {
  EXPECT_EQ(Said(Judged(LockStep())), "alike");
}

// Rank 0 alone writes checkpoints and logs, again and again.
TEST(LateRank, IsTheOneThatWritesCheckpoints) {
  LockStep made;
  made.steps = 2000;
  made.change = [](int rank, std::int64_t number, OwnWork& work) {
    if (rank == 0 && number % 100 == 50) work.Sleep(Phase::kCheckpoint, 2s);
  };
  const auto judged = Judged(made);
  ASSERT_TRUE(judged.found) << judged.reason;
  EXPECT_EQ(judged.found->rank, 0);
  EXPECT_EQ(judged.found->what, "checkpoint");
  EXPECT_NEAR(judged.found->lost, 2.0 / 12, 0.02);
}

TEST(LateRank, IsNobodyAfterOneLongStep) {
  LockStep made;
  made.change = [](int rank, std::int64_t number, OwnWork& work) {
    if (rank == 0 && number == 300) work.Sleep(Phase::kCheckpoint, 40s);
  };
  EXPECT_FALSE(Judged(made).found);
}

// Each rank is the late one at times: in each step one that is drawn, or for a while.
TEST(LateRank, IsNobodyWhenRanksTakeTurns) {
  for (const std::int64_t turn : {1, 50, 200}) {
    for (const int ranks : {2, 8}) {
      LockStep made;
      made.ranks = ranks;
      made.steps = 3200;
      made.change = [=](int rank, std::int64_t number, OwnWork& work) {
        if (number / turn % ranks == rank) work.Sleep(Phase::kData, 60ms);
      };
      EXPECT_FALSE(Judged(made).found) << turn << " " << ranks;
    }
  }
}

TEST(LateRank, IsNobodyWithRandomJitter) {
  LockStep made;
  made.ranks = 8;
  std::mt19937_64 random(7);
  made.change = [&](int, std::int64_t, OwnWork& work) {
    const auto drawn = std::exponential_distribution(1.0)(random);
    work.Add(random() % 2 == 0 ? Phase::kData : Phase::kForward,
             Duration(std::llround(drawn * 8e6)));
  };
  EXPECT_FALSE(Judged(made).found);
}

TEST(LateRank, IsNobodyWhenTheDifferenceIsSmall) {
  for (const Phase phase : {Phase::kData, Phase::kForward, Phase::kOther}) {
    EXPECT_FALSE(Judged(Late(1, [=](OwnWork& work) { work.Add(phase, 7ms); })).found);
  }
}

TEST(LateRank, IsFoundInTwentySeconds) {
  LockStep made = Late(1, [](OwnWork& work) { work.Sleep(Phase::kData, 50ms); });
  made.ranks = 2;
  made.steps = 135;
  EXPECT_EQ(LateOf(Judged(made)), 1);
}

TEST(LateRank, IsFoundWhenClocksAreApart) {
  LockStep made = Late(2, [](OwnWork& work) { work.Add(Phase::kForward, 50ms); });
  made.nodes = 2;
  made.clock_ahead = 5s;
  const auto judged = Judged(made);
  ASSERT_TRUE(judged.found) << judged.reason;
  EXPECT_EQ(judged.found->node, "node-0");
}

TEST(LateRank, IsFoundAmongHundreds) {
  LockStep made = Late(257, [](OwnWork& work) { work.Add(Phase::kForward, 50ms); });
  made.ranks = 300;
  made.nodes = 30;
  made.steps = 400;
  std::string state;
  const auto judged = Judged(MakeJob(made), &state);
  ASSERT_TRUE(judged.found) << judged.reason;
  EXPECT_EQ(judged.found->rank, 257);
  EXPECT_LT(state.size(), 300u * 1024);
}

// Half of the ranks, such as those of one node, may be late together.
TEST(LateRank, MayBeSeveral) {
  LockStep made;
  made.nodes = 2;
  made.change = [](int rank, std::int64_t, OwnWork& work) {
    if (rank % 2 == 1) work.Sleep(Phase::kData, rank == 3 ? 50ms : 48ms);
  };
  EXPECT_EQ(Said(Judged(made)),
            "Rank 3 on node node-1 is late: it works 50 ms longer than the median rank on a step "
            "(33 % of it), mostly data; so is 1 more; the others wait for it in backward.");
}

TEST(LateRank, IsFoundThoughARankMissesSteps) {
  Job job = MakeJob(Late(1, [](OwnWork& work) { work.Sleep(Phase::kData, 50ms); }));
  std::erase_if(job.ranks[3].steps, [](const Step& step) { return step.number % 3 == 0; });
  EXPECT_EQ(LateOf(Judged(job)), 1);
}

TEST(LateRank, IsFoundThoughARankJoinsLate) {
  Job job = MakeJob(Late(1, [](OwnWork& work) { work.Sleep(Phase::kData, 50ms); }));
  std::erase_if(job.ranks[3].steps, [](const Step& step) { return step.number < 250; });
  EXPECT_EQ(LateOf(Judged(job)), 1);
}

TEST(LateRank, IsUnknownForRanksThatDoNotStepTogether) {
  Job job = MakeJob(LockStep());
  for (Step& step : job.ranks[3].steps) step.wall = step.wall * 6 / 5;
  EXPECT_EQ(Said(Judged(job)), "rank 3 does not step together with the others");
}

// The thread of one rank sleeps in a call that nobody watches while the others work.
TEST(LateRank, DoesNotTakeASleepingThreadForALateOne) {
  LockStep made;
  made.ranks = 2;
  made.waits = Phase::kOther;
  made.change = [](int rank, std::int64_t, OwnWork& work) {
    if (rank == 1) work.Add(Phase::kForward, 50ms);
  };
  const auto judged = Judged(made);
  EXPECT_TRUE(!judged.found || judged.found->rank == 1) << Said(judged);
}

TEST(LateRank, IsTheOneThatSleepsOutsideOfPhases) {
  LockStep made = Late(1, [](OwnWork& work) {
    work.step.wall += 50ms;
    work.asleep += 50ms;
  });
  const auto judged = Judged(made);
  ASSERT_TRUE(judged.found) << judged.reason;
  EXPECT_EQ(judged.found->what, "time outside of all phases");
}

// Stages of a pipeline have other phases, and more or less work; they wait in calls without a name.
TEST(LateRank, IsNoStageOfAPipeline) {
  LockStep made;
  made.waits = Phase::kOther;
  made.change = [](int rank, std::int64_t, OwnWork& work) {
    if (rank > 0) work.step.phases[static_cast<std::size_t>(Phase::kData)] = {};
    if (rank == 3) work.Add(Phase::kLoss, 5ms);
    work.Add(Phase::kForward, rank * 20ms);
  };
  EXPECT_EQ(Said(Judged(made)),
            "the ranks have different phases, as stages of a pipeline do; only those with equal "
            "phases are compared, and none of them is late");
}

TEST(LateRank, IsUnknownAlone) {
  LockStep made;
  made.ranks = 1;
  EXPECT_EQ(Said(Judged(made)), "one rank has nobody to wait for");
  made.ranks = 2;
  made.steps = 60;
  EXPECT_EQ(Said(Judged(made)), "5 s of step time compared; judged from 10 s on");
}

// A GPU that is never seen to idle still has work while its host waits.
TEST(LateRank, DoesNotTakeAHostForItsGpu) {
  Job job = MakeJob(Late(1, [](OwnWork& work) { work.Sleep(Phase::kData, 50ms); }));
  for (RankFacts& facts : job.facts.ranks) {
    facts.sleeps_in_waits = false;
    facts.gpu_async = true;
  }
  NodeTicks& node = job.nodes[0];
  const auto use = [&](std::int64_t percent) {
    return Column{0, std::vector<std::int64_t>(node.at_us.size(), percent), {}};
  };
  node.series.insert(node.series.begin(), {"gpu_util_percent", "gpu0"});
  node.columns.insert(node.columns.begin(), use(99));
  EXPECT_FALSE(Judged(job).found);
  node.columns[0] = use(66);
  EXPECT_TRUE(Judged(job).found);
}

// By the GPU's clock the late rank's GPU ran dry, and those of the others waited in their kernels.
TEST(LateRank, IsTheOneWhoseGpuRunsDry) {
  Job job = MakeJob(Late(1, [](OwnWork& work) { work.Sleep(Phase::kData, 50ms); }));
  for (RankFacts& facts : job.facts.ranks) {
    facts.sleeps_in_waits = false;
    facts.gpu_async = true;
  }
  const auto dry = [&](Duration late) {
    for (RankSteps& rank : job.ranks) {
      for (Step& step : rank.steps) step.gpu_idle = rank.rank == 1 ? late : 1ms;
    }
  };
  dry(2ms);
  EXPECT_EQ(Said(Judged(job)), kHidden);
  dry(31ms);
  const auto judged = Judged(job);
  ASSERT_TRUE(judged.found) << judged.reason;
  EXPECT_EQ(judged.found->what, "data");
  EXPECT_NEAR(judged.found->lost, 0.2, 0.01);
}

// Of short steps the clock times one of many.
TEST(LateRank, IsTheOneWhoseGpuRunsDryInTheStepsThatAreTimed) {
  Job job = MakeJob(Late(1, [](OwnWork& work) { work.Sleep(Phase::kData, 50ms); }));
  for (RankFacts& facts : job.facts.ranks) {
    facts.sleeps_in_waits = false;
    facts.gpu_async = true;
  }
  for (RankSteps& rank : job.ranks) {
    for (std::size_t i = 0; i < rank.steps.size(); i += 7) {
      rank.steps[i].gpu_idle = rank.rank == 1 ? 31ms : 1ms;
    }
  }
  const auto judged = Judged(job);
  ASSERT_TRUE(judged.found) << judged.reason;
  EXPECT_EQ(judged.found->rank, 1);
  EXPECT_EQ(judged.found->phase, Phase::kData);
  EXPECT_NEAR(judged.found->lost, 0.2, 0.02);
}

// The evaluation of one rank is not part of its steps; the others wait for it in theirs.
TEST(LateRank, IsTheOneThatEvaluates) {
  Job job = MakeJob(LockStep());
  for (RankSteps& rank : job.ranks) {
    for (Step& step : rank.steps) {
      if (rank.rank == 0) step.evaluation = 40ms;
      if (rank.rank != 0)
        step.wall += 40ms, step.phases[static_cast<std::size_t>(Phase::kBackward)] += 40ms;
    }
  }
  const auto judged = Judged(job);
  ASSERT_TRUE(judged.found) << judged.reason;
  EXPECT_EQ(judged.found->rank, 0);
  EXPECT_EQ(judged.found->what, "evaluation");
}

}  // namespace
}  // namespace stepscope::scenarios
