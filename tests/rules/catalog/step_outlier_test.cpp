#include <gtest/gtest.h>

#include <functional>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "StepOutlier";

// Steps of about 100 ms; every `each`-th of them waits 2 s more for its data.
Job WithOutliers(std::size_t steps, std::size_t each) {
  Scenario scenario;
  scenario.stretches = {{10}};
  scenario.ranks = {{5s, steps, 100ms}};
  Job job = MakeJob(scenario);
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 1e6);
  Time start = job.ranks[0].steps.empty() ? Time{} : job.ranks[0].steps[0].start;
  for (Step& step : job.ranks[0].steps) {
    step.wall += Duration(static_cast<std::int64_t>(noise(random)));
    if (static_cast<std::size_t>(step.number) % each == each - 1) {
      step.wall += 2s;
      step.phases[static_cast<std::size_t>(Phase::kData)] += 2s;
    }
    step.start = start;
    start += step.wall;
  }
  return job;
}

TEST(StepOutlier, FiresWhenThereAreTooMany) {
  const auto outcome = Judge(kRule, WithOutliers(6000, 200));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
  const Json& rank = outcome.verdict.evidence["ranks"][0];
  EXPECT_GE(rank["outliers"], 15);
  EXPECT_NE(outcome.verdict.sentence.find("the limit is 10."), std::string::npos);
  EXPECT_NE(outcome.verdict.sentence.find("they were longer in mostly data (+"), std::string::npos)
      << outcome.verdict.sentence;
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_FALSE(outcome.findings.empty());
  EXPECT_LE(rank["longest_steps"].size(), 20u);
  // One step in 200 is 21 times as long.
  EXPECT_NEAR(outcome.verdict.share, 2.1 / (2.1 + 19.9), 0.01);
  EXPECT_GE(outcome.verdict.share, rank["cost"]);
}

// Interrupts of a busy machine: one step in fifty is a fifth longer, and nobody loses time by it.
TEST(StepOutlier, IsNotSevereWhenOutliersCostNothing) {
  Job job = WithOutliers(6000, 1'000'000);
  for (Step& step : job.ranks[0].steps) {
    if (step.number % 53 == 7) step.wall += 20ms;
  }
  const auto cheap = Judge(kRule, job).verdict;
  EXPECT_EQ(cheap.kind, VerdictKind::kFinding);
  EXPECT_EQ(cheap.severity, Severity::kNone);
  EXPECT_NE(cheap.sentence.find("They cost 0.3"), std::string::npos) << cheap.sentence;
  const auto dear = Judge(kRule, WithOutliers(6000, 200)).verdict;
  EXPECT_EQ(dear.severity, Severity::kLow) << dear.sentence;
}

TEST(StepOutlier, IsClearForAFewOfThem) {
  const auto verdict = Judge(kRule, WithOutliers(2000, 700)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear) << verdict.sentence;
}

// In 20,000 steps that only vary by chance some 27 are above mean + 3 x sigma.
TEST(StepOutlier, IsNotFooledByChance) {
  const auto verdict = Judge(kRule, WithOutliers(20'000, 1'000'000)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear) << verdict.sentence;
}

// Of each step, from its number and a random one of a normal distribution, its length in ms.
Job Varying(std::size_t steps, const std::function<double(std::size_t, double)>& length_ms) {
  Job job = WithOutliers(steps, 1'000'000);
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 1);
  Time start = job.ranks[0].steps[0].start;
  for (std::size_t i = 0; i < steps; ++i) {
    Step& step = job.ranks[0].steps[i];
    step.wall = Duration(static_cast<std::int64_t>(length_ms(i, normal(random)) * 1e6));
    step.start = start;
    start += step.wall;
  }
  return job;
}

TEST(StepOutlier, IsClearForImagesOfSeveralSizesInTurn) {
  const auto sizes = [](std::size_t i, double normal) {
    const double size = i < 3000 ? 24 : i < 4200 ? 40 : 64;
    return size * size / 20 * (1 + 0.03 * normal);
  };
  const auto verdict = Judge(kRule, Varying(4700, sizes)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear) << verdict.sentence;
}

TEST(StepOutlier, IsClearForSequencesOfManyLengths) {
  for (const double least : {0.0, 10.0, 60.0}) {
    const auto lengths = [&](std::size_t, double normal) {
      return least + std::clamp(std::exp(3 + normal), 4.0, 600.0);
    };
    const auto verdict = Judge(kRule, Varying(20'000, lengths)).verdict;
    EXPECT_EQ(verdict.kind, VerdictKind::kClear) << verdict.sentence;
  }
}

// One step in twelve is an evaluation batch, say: that is how the steps are.
TEST(StepOutlier, IsClearWhereManyStandOut) {
  const auto each = [](std::size_t i, double normal) {
    return (i % 12 == 7 ? 250 : 100) * (1 + 0.01 * normal);
  };
  const auto verdict = Judge(kRule, Varying(3000, each)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear) << verdict.sentence;
}

TEST(StepOutlier, FindsOutliersInEachOfTwoPaces) {
  const auto paces = [](std::size_t i, double normal) {
    return (i < 2000 ? 100 : 180) * (1 + 0.01 * normal) + (i % 150 == 149 ? 700 : 0);
  };
  const auto verdict = Judge(kRule, Varying(4000, paces)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding) << verdict.sentence;
}

TEST(StepOutlier, ComparesOnePhaseWhenAsked) {
  const Job job = WithOutliers(6000, 200);
  EXPECT_EQ(Judge(kRule, job, {{"mode", "data"}}).verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(Judge(kRule, job, {{"mode", "checkpoint"}}).verdict.kind, VerdictKind::kClear);
}

TEST(StepOutlier, IsUnknownBeforeEnoughSteps) {
  EXPECT_EQ(Judge(kRule, WithOutliers(0, 10)).verdict.sentence, "no steps reported");
  const auto verdict = Judge(kRule, WithOutliers(120, 10)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(verdict.sentence, "120 of 121 steps seen");
}

TEST(StepOutlier, RefusesAModeThatIsNone) {
  const auto refused = CompleteParameters(*FindRule(kRule), {{"mode", "eval"}});
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(refused.error().message.starts_with(
      "StepOutlier: mode is \"eval\", but must be one of none, data, transfer,"))
      << refused.error().message;
  EXPECT_EQ(*CompleteParameters(*FindRule(kRule), nullptr),
            Json({{"stddev", 3}, {"n_outliers", 10}, {"mode", "none"}}));
}

}  // namespace
}  // namespace stepscope::scenarios
