#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "MaxInitializationTime";

// Half an hour of ticks; the first step of 1 s starts after `start`.
Job Starting(Duration start, std::size_t steps = 10) {
  Scenario scenario;
  scenario.stretches = {{3600, 0, 20}};
  scenario.ranks = {{start, steps, 1s}};
  return MakeJob(scenario);
}

TEST(MaxInitializationTime, FiresWhenTheFirstStepComesLate) {
  const auto outcome = Judge(kRule, Starting(25min));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.sentence,
            "The first step ended 25 min after the start of the job; the threshold is 20 min.");
  EXPECT_FALSE(outcome.verdict.active);
  EXPECT_EQ(outcome.verdict.fired, FromMicros(kOriginUs) + 20min);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].to, FromMicros(kOriginUs) + 25min + 1s);
}

TEST(MaxInitializationTime, FiresWhileNoStepHasCome) {
  const auto verdict = Judge(kRule, Starting(2h, 0)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_TRUE(verdict.active);
  EXPECT_EQ(verdict.sentence,
            "No step had ended 30 min after the start of the job; the threshold is 20 min.");
}

TEST(MaxInitializationTime, IsClearWhenTheFirstStepCameInTime) {
  const auto verdict = Judge(kRule, Starting(90s)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(verdict.sentence,
            "The first step ended 91 s after the start of the job; the threshold is 20 min.");
}

TEST(MaxInitializationTime, IsClearAsSoonAsTheFirstStepIsThere) {
  const Job job = Starting(90s);
  const RuleType& rule = *FindRule(kRule);
  const auto fold = rule.make(*Params::Read(rule.name, rule.params, {}, 500ms), job.facts);
  EXPECT_EQ(fold->Judge().sentence, "no samples yet");
  fold->Observe(StepView{0, job.ranks[0].node, job.ranks[0].steps});
  EXPECT_EQ(fold->Judge().kind, VerdictKind::kClear);
  EXPECT_EQ(fold->Judge().sentence,
            "The first step ended 91 s after the start of the job; the threshold is 20 min.");
}

TEST(MaxInitializationTime, IsUnknownBeforeTheThresholdAndWithoutAProcess) {
  EXPECT_EQ(Judge(kRule, Starting(2h, 0), {{"threshold", 40}}).verdict.sentence,
            "no step has ended 30 min after the start of the job; judged at 40 min");
  Scenario silent;
  silent.stretches = {{3600, 0, 20}};
  const auto verdict = Judge(kRule, MakeJob(silent)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(verdict.sentence, "no training process has connected");
  Job told = MakeJob(silent);
  told.facts.nodes[0].hooks_missing = "python was started with -I";
  EXPECT_EQ(Judge(kRule, told).verdict.sentence,
            "no training process has connected: python was started with -I");
}

TEST(MaxInitializationTime, RefusesMoreThanAWeek) {
  EXPECT_FALSE(CompleteParameters(*FindRule(kRule), {{"threshold", 10'081}}).ok());
}

}  // namespace
}  // namespace stepscope::scenarios
