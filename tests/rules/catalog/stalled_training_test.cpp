#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "StalledTraining";

// An hour of ticks. Steps of 1 s, 300 of them from second 5 on and 300 after `pause` more.
Job Pausing(Duration pause, std::size_t later = 300) {
  Scenario scenario;
  scenario.stretches = {{7200, 50, 20}};
  scenario.ranks = {{5s, 300, 1s}};
  Job job = MakeJob(scenario);
  scenario.ranks = {{306s + pause, later, 1s}};
  const Job rest = MakeJob(scenario);
  auto& steps = job.ranks[0].steps;
  steps.insert(steps.end(), rest.ranks[0].steps.begin(), rest.ranks[0].steps.end());
  return job;
}

TEST(StalledTraining, FiresWhileNoStepComes) {
  const auto outcome = Judge(kRule, Pausing(0s, 0));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_NE(outcome.verdict.sentence.find("It goes on."), std::string::npos);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  // 20 x 1 s is less than 5 minutes.
  EXPECT_EQ(outcome.verdict.fired, outcome.findings[0].from + 5min);
}

TEST(StalledTraining, IsOverWhenTheProcessesHaveEnded) {
  Job job = Pausing(0s, 0);
  job.facts.ranks[0].ended = job.origin + 1h;
  const auto verdict = Judge(kRule, job).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding) << verdict.sentence;
  EXPECT_FALSE(verdict.active);
  EXPECT_TRUE(verdict.sentence.ends_with(" The processes ended without another step."))
      << verdict.sentence;
}

TEST(StalledTraining, IsOverWhenStepsComeAgain) {
  const auto outcome = Judge(kRule, Pausing(20min));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  ASSERT_EQ(outcome.findings.size(), 2u);  // after the last step nothing comes either
  EXPECT_NE(outcome.findings[0].sentence.find("No step ended for 20 min"), std::string::npos)
      << outcome.findings[0].sentence;
}

// The job ended in the minute in which it went on.
TEST(StalledTraining, IsOverInAJobThatEndedSoonAfter) {
  Job job = Pausing(20min, 20);
  const auto& last = job.ranks[0].steps.back();
  const std::int64_t end_us = ToMicros(last.start + last.wall);
  for (NodeTicks& node : job.nodes) {
    std::erase_if(node.at_us, [&](std::int64_t at_us) { return at_us > end_us; });
  }
  const auto verdict = Judge(kRule, job).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding) << verdict.sentence;
  EXPECT_FALSE(verdict.active);
  EXPECT_EQ(verdict.sentence.find("It goes on."), std::string::npos) << verdict.sentence;
}

TEST(StalledTraining, SeesAPauseWithinAMinute) {
  Job job = Pausing(0s, 0);
  std::erase_if(job.ranks[0].steps, [](const Step& step) {
    return step.number >= 60 && step.number < 100;  // of one minute
  });
  const auto outcome = Judge(kRule, job, {{"threshold", 20}});
  ASSERT_FALSE(outcome.findings.empty());
  EXPECT_NEAR(ToSeconds(outcome.findings[0].to - outcome.findings[0].from), 40, 2.1);
}

// After 300 steps of 1 s rank 0 evaluates for 20 minutes; then come 300 more.
Job Evaluating(Duration for_long, std::size_t later = 300) {
  Job job = Pausing(for_long, later);
  NodeTicks& node = job.nodes[0];
  Column evaluating{2, {}, {}};
  for (const std::int64_t at_us : node.at_us) {
    const Time at = FromMicros(at_us);
    const bool evaluates = at > job.origin + 306s && at <= job.origin + 306s + for_long;
    evaluating.values.push_back(evaluates ? 10'000 : 0);
    evaluating.present.push_back(1);
  }
  node.series.push_back({"rank_evaluating_percent", "rank0"});
  node.columns.push_back(std::move(evaluating));
  return job;
}

TEST(StalledTraining, IsClearWhileARankEvaluates) {
  Job job = Evaluating(20min);
  job.facts.ranks[0].ended = EndedAt(job.ranks[0].steps.back());
  const auto outcome = Judge(kRule, job);
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kClear) << outcome.verdict.sentence;
  EXPECT_TRUE(outcome.findings.empty());
  const auto now = Judge(kRule, Evaluating(1h, 0)).verdict;
  EXPECT_EQ(now.kind, VerdictKind::kClear);
  EXPECT_NE(now.sentence.find(" Rank 0 has evaluated for 55 min; no step since "),
            std::string::npos)
      << now.sentence;
}

TEST(StalledTraining, FiresWhenNothingFollowsAnEvaluation) {
  const auto outcome = Judge(kRule, Evaluating(20min, 0));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_NEAR(ToSeconds(outcome.findings[0].from - FromMicros(kOriginUs)), 306 + 20 * 60, 2);
}

TEST(StalledTraining, IsClearForPausesAndAfterTheProcessesEnded) {
  Job job = Pausing(4min);
  const Step& last = job.ranks[0].steps.back();
  job.facts.ranks[0].ended = last.start + last.wall + 30s;
  const auto verdict = Judge(kRule, job).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear) << verdict.sentence;
  EXPECT_NEAR(verdict.evidence["longest_seconds"].get<double>(), 241, 2);
}

// One rank ended, the other hangs.
TEST(StalledTraining, FiresAsLongAsAnyProcessIsLeft) {
  Job job = Pausing(0s, 0);
  job.facts.ranks = {{.rank = 0, .node = "node-0", .ended = job.origin + 306s},
                     {.rank = 1, .node = "node-0"}};
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kFinding);
  job.facts.ranks[1].ended = job.origin + 307s;
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kClear);
}

TEST(StalledTraining, IsUnknownWithoutSteps) {
  Scenario none;
  none.stretches = {{7200, 50, 20}};
  EXPECT_EQ(Judge(kRule, MakeJob(none)).verdict.kind, VerdictKind::kUnknown);
}

TEST(StalledTraining, RefusesNoTimeAtAll) {
  EXPECT_FALSE(CompleteParameters(*FindRule(kRule), {{"threshold", 0}}).ok());
}

}  // namespace
}  // namespace stepscope::scenarios
