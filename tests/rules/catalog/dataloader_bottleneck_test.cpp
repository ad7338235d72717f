#include <gtest/gtest.h>

#include "rules/engine/finding_track.h"
#include "rules/engine/state.h"
#include "rules/stats/statistics.h"
#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "DataloaderBottleneck";

Scenario Steps(std::initializer_list<scenarios::Steps> ranks) {
  Scenario scenario;
  scenario.stretches = {{10}};
  scenario.ranks = ranks;
  return scenario;
}

TEST(DataloaderBottleneck, NamesTheShareOfTime) {
  const auto outcome = Judge(kRule, MakeJob(Steps({{5s, 412, 100ms, 57.3, 0}})));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.sentence,
            "The training process waited 57.3 % of the time (mean of 412 steps without the first, "
            "rank 0) for its next "
            "batch; the threshold is 20 %.");
  EXPECT_EQ(outcome.verdict.severity, Severity::kHigh);
  EXPECT_EQ(outcome.verdict.share, 1);
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.rank, 0);
  EXPECT_EQ(outcome.findings[0].from, FromMicros(kOriginUs) + 5s);
}

TEST(DataloaderBottleneck, IsClearBelowTheThreshold) {
  const auto verdict = Judge(kRule, MakeJob(Steps({{5s, 100, 200ms, 2, 1}}))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(verdict.severity, Severity::kNone);
}

TEST(DataloaderBottleneck, IsWorthALookBetweenModerateAndThreshold) {
  const auto verdict = Judge(kRule, MakeJob(Steps({{5s, 100, 200ms, 12, 0}}))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(verdict.severity, Severity::kLow);
  EXPECT_NE(verdict.sentence.find("worth a look"), std::string::npos) << verdict.sentence;
}

TEST(DataloaderBottleneck, IsUnknownBeforeEnoughSteps) {
  EXPECT_EQ(Judge(kRule, MakeJob(Steps({}))).verdict.sentence, "no steps reported");
  const auto verdict = Judge(kRule, MakeJob(Steps({{5s, 19, 1s, 90, 0}}))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(verdict.sentence, "19 of 20 steps seen");
  EXPECT_EQ(Judge(kRule, MakeJob(Steps({{5s, 22, 1s, 90, 0}}))).verdict.kind,
            VerdictKind::kFinding);
}

// A loop that marks its steps but not its loader, or Keras on TensorFlow.
TEST(DataloaderBottleneck, IsUnknownWhereNoStepTellsOfData) {
  const auto verdict = Judge(kRule, MakeJob(Steps({{5s, 100, 200ms, 0, 0}}))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_TRUE(verdict.sentence.starts_with("no step tells of a wait for data")) << verdict.sentence;
}

// Workers that start while the first 400 steps of 2 ms run are no verdict on the job.
TEST(DataloaderBottleneck, DoesNotJudgeAStartOfAFewSeconds) {
  Job job = MakeJob(Steps({{5s, 400, 2ms, 60, 0}}));
  EXPECT_EQ(Judge(kRule, job).verdict.sentence,
            "400 steps took 798 ms; judged from 10 s of step time on");
  const Job rest = MakeJob(Steps({{10s, 8000, 2ms, 3, 0}}));
  job.ranks[0].steps.insert(job.ranks[0].steps.end(), rest.ranks[0].steps.begin(),
                            rest.ranks[0].steps.end());
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kClear);
}

TEST(DataloaderBottleneck, NamesTheWorstRank) {
  const auto verdict =
      Judge(kRule,
            MakeJob(Steps({{5s, 100, 200ms, 3, 1}, {5s, 100, 200ms, 40, 0}, {5s, 9, 1s, 99, 0}})))
          .verdict;
  EXPECT_NE(verdict.sentence.find("rank 1"), std::string::npos) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("1 of 3 ranks fired"), std::string::npos) << verdict.sentence;
}

TEST(DataloaderBottleneck, StaysFoundAndSaysThatItIsOver) {
  Job job = MakeJob(Steps({{5s, 60, 200ms, 50, 0}}));
  const Job fast = MakeJob(Steps({{100s, 400, 100ms, 1, 0}}));
  job.ranks[0].steps.insert(job.ranks[0].steps.end(), fast.ranks[0].steps.begin(),
                            fast.ranks[0].steps.end());
  const auto outcome = Judge(kRule, job);
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_FALSE(outcome.verdict.active);
  // 60 long steps and those after them until the newest ones wait for less than 20 %.
  EXPECT_NEAR(outcome.verdict.share, 20.0 / 52, 0.1);
  EXPECT_NE(outcome.verdict.sentence.find("steps are not above it."), std::string::npos)
      << outcome.verdict.sentence;
  EXPECT_EQ(outcome.verdict.fired, job.ranks[0].steps[50].start + 200ms);
  ASSERT_EQ(outcome.findings.size(), 1u);
}

// Four workers take 0.8 s for a batch each and the model 0.05 s: each 4th step waits for 0.6 s, and
// the median step for nothing.
Job InBursts(std::size_t steps, std::size_t workers = 4, Duration wait = 600ms) {
  Job job = MakeJob(Steps({{5s, steps, 50ms, 0, 0}}));
  Time start = job.origin + 5s;
  for (Step& step : job.ranks[0].steps) {
    const bool waits = static_cast<std::size_t>(step.number) % workers == 0;
    step.start = start;
    step.phases[0] = waits ? wait : 0ms;
    step.wall += step.phases[0];
    start += step.wall;
  }
  return job;
}

TEST(DataloaderBottleneck, FindsWaitsThatComeInBursts) {
  Job job = InBursts(480);
  job.facts.ranks[0].loader_workers = 4;
  const auto outcome = Judge(kRule, job);
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(
      outcome.verdict.sentence,
      "The training process waited 74.9 % of the time (mean of 480 steps without the first, rank "
      "0; in bursts, "
      "each 4th step, one for each loader worker) for its next batch; the threshold is 20 %.");
  EXPECT_EQ(outcome.verdict.severity, Severity::kHigh);
  EXPECT_EQ(outcome.verdict.evidence["ranks"][0]["every_steps"], 4);
  EXPECT_EQ(outcome.verdict.evidence["ranks"][0]["median_percent"], 0);
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].to, EndedAt(job.ranks[0].steps.back()));
}

TEST(DataloaderBottleneck, NamesARhythmOnlyWhereThereIsOne) {
  const auto sixteen = Judge(kRule, InBursts(960, 16, 2400ms)).verdict;
  EXPECT_EQ(sixteen.kind, VerdictKind::kFinding);
  EXPECT_NE(sixteen.sentence.find("; in bursts, each 16th step)"), std::string::npos)
      << sixteen.sentence;
  Job job = InBursts(480, 1, 100ms);
  for (Step& step : job.ranks[0].steps) {  // the waits are there in every step, and uneven
    const Duration wait = 50ms + 1ms * (step.number * 37 % 101);
    step.wall += wait - step.phases[0];
    step.phases[0] = wait;
  }
  const auto each = Judge(kRule, job).verdict;
  EXPECT_EQ(each.kind, VerdictKind::kFinding);
  EXPECT_EQ(each.sentence.find("bursts"), std::string::npos) << each.sentence;
}

// A first batch that comes late, and a file server that hangs once, are no bottleneck.
TEST(DataloaderBottleneck, IsClearWhenOneWaitMakesUpForMost) {
  for (const std::size_t late : {0, 57}) {
    Job job = MakeJob(Steps({{5s, 400, 100ms, 0.3, 0}}));
    Step& step = job.ranks[0].steps[late];
    step.wall += 20s;
    step.phases[0] += 20s;
    const auto outcome = Judge(kRule, job);
    EXPECT_EQ(outcome.verdict.kind, VerdictKind::kClear) << outcome.verdict.sentence;
    EXPECT_TRUE(outcome.findings.empty());
  }
}

// The host runs ahead: it waits while the GPU works through its queue.
TEST(DataloaderBottleneck, IsClearWhereTheGpuHadWorkMeanwhile) {
  Job job = MakeJob(Steps({{5s, 400, 100ms, 60, 0}}));
  for (Step& step : job.ranks[0].steps) step.gpu_idle = 2ms;
  const auto verdict = Judge(kRule, job).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(
      verdict.sentence,
      "The GPU waited 2.0 % of the time (mean of 400 steps without the first, rank 0) for its next "
      "batch; the threshold is 20 %. The host waited 60.0 %, but the GPU had work meanwhile.");
  for (Step& step : job.ranks[0].steps) step.gpu_idle = 50ms;
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kFinding);
}

// A state of the version before has a window of medians instead.
TEST(DataloaderBottleneck, LoadsAStateOfAnEarlierVersion) {
  struct Before {
    std::string node = "node-0";
    TotalBins all{kPercentBins};
    SlidingPercentiles window{20};
    double sum = 30;
    bool active = true;
    Time time = FromMicros(kOriginUs);
    std::optional<Time> fired;
    std::int64_t fired_step = 0;

    void Fields(StateWriter& state) {
      state("node", node);
      state("all", all);
      state("window", window);
      for (const char* name : {"wait_s", "wall_s", "firing_s", "median"}) state(name, sum);
      state("active", active);
      state("first", time);
      state("last", time);
      state("fired", fired);
      state("fired_step", fired_step);
    }
  };
  struct Ranks {
    FindingTrack findings;
    std::map<int, Before, std::less<>> ranks;

    void Fields(StateWriter& state) {
      state("findings", findings);
      state("ranks", ranks, [] { return Before(); });
    }
  };
  Ranks before;
  before.ranks[3].all.Add(5'000);
  before.ranks[3].window.Add(5'000);
  const RuleType& rule = *FindRule(kRule);
  const auto fold = rule.make(*Params::Read(rule.name, rule.params, {}, 500ms), {});
  const Status loaded = fold->Load(SaveFields(before));
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(fold->Judge().sentence, "1 of 20 steps seen");
}

TEST(DataloaderBottleneck, IsNotFooledByHostileSteps) {
  Job job = MakeJob(Steps({{5s, 30, 1s, 1, 0}}));
  job.ranks[0].steps[3].wall = 0s;
  job.ranks[0].steps[4].wall = -5s;
  job.ranks[0].steps[5].phases[0] = 1h;   // longer than its step
  job.ranks[0].steps[6].phases[0] = -1h;  // a negative length
  const auto verdict = Judge(kRule, job).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(verdict.evidence["ranks"][0]["steps"], 28);
}

}  // namespace
}  // namespace stepscope::scenarios
