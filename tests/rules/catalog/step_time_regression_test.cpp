#include <gtest/gtest.h>

#include "rules/signals/setup.h"
#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "StepTimeRegression";

// 10 minutes of steps of 100 ms, then 10 of others.
Job Changing(Duration later) {
  Scenario scenario;
  scenario.stretches = {{10}};
  scenario.ranks = {{5s, 6000, 100ms, 5, 0}};
  Job job = MakeJob(scenario);
  scenario.ranks = {{20min, static_cast<std::size_t>(10min / later), later, 5, 0}};
  const Job rest = MakeJob(scenario);
  auto& steps = job.ranks[0].steps;
  steps.insert(steps.end(), rest.ranks[0].steps.begin(), rest.ranks[0].steps.end());
  return job;
}

TEST(StepTimeRegression, FiresWhenStepsBecomeLonger) {
  const auto outcome = Judge(kRule, Changing(140ms));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
  EXPECT_NE(outcome.verdict.sentence.find("time outside of all phases"), std::string::npos)
      << outcome.verdict.sentence;
  EXPECT_EQ(outcome.verdict.severity, Severity::kMedium);
  EXPECT_TRUE(outcome.verdict.active);
  const Finding& finding = outcome.findings.at(0);
  EXPECT_NEAR(outcome.verdict.share, ToSeconds(finding.to - finding.from) / (18 * 60), 0.03);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
}

// Slow windows are longer: 100 steps of 2 s, twice.
TEST(StepTimeRegression, ShareIsOfTheTime) {
  Job job = Changing(100ms);
  auto& steps = job.ranks[0].steps;
  for (std::size_t i = 6000; i < 6200; ++i) steps[i].wall = 2s;
  steps.resize(9000);
  const auto outcome = Judge(kRule, job);
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_NEAR(outcome.verdict.share, 400.0 / (480 + 400 + 280), 0.06);
}

// Of 460 steps 380 stay as they were, and 80 take most of the time: the median sees nothing.
TEST(StepTimeRegression, CountsTimeAndNotSteps) {
  Job job = Changing(100ms);
  auto& steps = job.ranks[0].steps;
  for (Step& step : steps) {
    if (step.number % 23 < 4 && &step - steps.data() >= 6000) step.wall = 1s;
  }
  const auto verdict = Judge(kRule, job).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding) << verdict.sentence;
  EXPECT_EQ(verdict.severity, Severity::kHigh);
}

// A checkpoint of 30 s every few minutes lifts the mean of its window by half.
TEST(StepTimeRegression, IsClearForAFewLongSteps) {
  Job job = Changing(100ms);
  auto& steps = job.ranks[0].steps;
  for (std::size_t i = 3000; i < steps.size(); i += 500) steps[i].wall = 30s;
  const auto verdict = Judge(kRule, job).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear) << verdict.sentence;
}

// A healthy job that has steps of two kinds, in no order.
TEST(StepTimeRegression, IsClearForStepsOfTwoKinds) {
  Job job = Changing(100ms);
  std::mt19937_64 random(5);
  for (Step& step : job.ranks[0].steps) step.wall = random() % 6 == 0 ? 500ms : 100ms;
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kClear);
}

// No two windows are alike: nothing to compare with.
TEST(StepTimeRegression, IsUnknownWhenEachStepIsLonger) {
  Scenario scenario;
  scenario.stretches = {{10}};
  scenario.ranks = {{5s, 460, 350ms, 5, 0, 0, 3300us}};
  const auto verdict = Judge(kRule, MakeJob(scenario)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_NE(verdict.sentence.find("StepTimeTrend"), std::string::npos) << verdict.sentence;
}

TEST(StepTimeRegression, IsClearWhenTheyStay) {
  EXPECT_EQ(Judge(kRule, Changing(108ms)).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, Changing(70ms)).verdict.kind, VerdictKind::kClear);
}

TEST(StepTimeRegression, IsUnknownBeforeItKnowsThePace) {
  Scenario scenario;
  scenario.stretches = {{10}};
  EXPECT_EQ(Judge(kRule, MakeJob(scenario)).verdict.sentence, "no steps reported");
  scenario.ranks = {{5s, 1000, 100ms, 5, 0}};
  EXPECT_EQ(Judge(kRule, MakeJob(scenario)).verdict.kind, VerdictKind::kUnknown);
}

// A run that is slow from its first step on.
TEST(StepTimeRegression, ComparesWithEarlierRunsOfTheGroup) {
  Job job = Changing(100ms);
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kClear);
  const std::string setup = SetupOf(job.facts);
  job.facts.earlier_runs = {
      {0.078, setup}, {0.01, "another"}, {0.08, setup}, {0.2, setup}, {9, setup}};
  const auto slower = Judge(kRule, job);
  EXPECT_EQ(slower.verdict.kind, VerdictKind::kFinding) << slower.verdict.sentence;
  EXPECT_NE(slower.verdict.sentence.find("+25 % against 80 ms in 3 earlier runs of its group"),
            std::string::npos)
      << slower.verdict.sentence;
  EXPECT_EQ(slower.verdict.sentence.find("Longer was"), std::string::npos);
  EXPECT_NEAR(slower.verdict.evidence["pace_seconds"].get<double>(), 0.1, 0.003);
  EXPECT_EQ(slower.findings.size(), 1u);
  EXPECT_EQ(slower.verdict.evidence["runs_left_out"], 2);
  job.facts.earlier_runs = {{0.3, setup}};
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kClear);
}

TEST(StepTimeRegression, SaysWhyRunsAreNotComparedWith) {
  Job job = Changing(100ms);
  job.facts.earlier_runs = {{0.01, "8 ranks, 8 GPUs"}, {0.02, ""}};
  const auto unlike = Judge(kRule, job).verdict;
  EXPECT_EQ(unlike.kind, VerdictKind::kClear);
  EXPECT_NE(unlike.sentence.find("none was like this one, with 1 rank"), std::string::npos)
      << unlike.sentence;
  EXPECT_NE(unlike.sentence.find("the newest had 8 ranks, 8 GPUs."), std::string::npos)
      << unlike.sentence;
  job.facts.earlier_runs = {{0.01, ""}};
  EXPECT_NE(Judge(kRule, job).verdict.sentence.find("what the newest ran on is not known"),
            std::string::npos);
}

TEST(StepTimeRegression, RefusesANegativeThreshold) {
  EXPECT_FALSE(CompleteParameters(*FindRule(kRule), {{"threshold", -1}}).ok());
}

}  // namespace
}  // namespace stepscope::scenarios
