#include <gtest/gtest.h>

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
            "The training process waited 57.3 % of each step (median of 412 steps, rank 0) for its "
            "next batch; the threshold is 20 %.");
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
  EXPECT_EQ(Judge(kRule, MakeJob(Steps({{5s, 20, 1s, 90, 0}}))).verdict.kind,
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
            "400 steps took 800 ms; judged from 10 s of step time on");
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
  // 60 long steps and the ten after them, of all: time counts, not steps.
  EXPECT_NEAR(outcome.verdict.share, 13.0 / 52, 0.005);
  EXPECT_NE(outcome.verdict.sentence.find("The newest 20 steps are not above it."),
            std::string::npos)
      << outcome.verdict.sentence;
  EXPECT_EQ(outcome.verdict.fired, job.ranks[0].steps[49].start + 200ms);
  ASSERT_EQ(outcome.findings.size(), 1u);
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
