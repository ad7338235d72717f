#include "server/report/measure/step_change.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace stepscope {
namespace {

// A run of steps around `seconds`, each by up to `spread` of it longer or shorter.
std::vector<double> RunOf(double seconds, double spread, unsigned seed, std::size_t steps = 400) {
  std::mt19937 dice(seed);
  std::uniform_real_distribution<double> part(1 - spread, 1 + spread);
  std::vector<double> run(steps);
  for (double& each : run) each = seconds * part(dice);
  return run;
}

TEST(StepChange, NamesAClearChangeWithItsInterval) {
  const StepChange change = CompareSteps(RunOf(0.68, 0.05, 1), RunOf(0.31, 0.05, 2));
  EXPECT_EQ(change.kind, StepChange::kFaster);
  EXPECT_TRUE(change.material);
  EXPECT_NEAR(change.percent, -54.4, 1);
  EXPECT_LT(change.low, change.percent);
  EXPECT_GT(change.high, change.percent);
  EXPECT_LT(change.high, -50);
  EXPECT_EQ(CompareSteps(RunOf(0.31, 0.05, 2), RunOf(0.68, 0.05, 1)).kind, StepChange::kSlower);
}

TEST(StepChange, FindsNoDifferenceBetweenEqualRunsOnlyFewTimes) {
  int found = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const StepChange change =
        CompareSteps(RunOf(0.1, 0.3, 2 * seed), RunOf(0.1, 0.3, 2 * seed + 1));
    if (change.kind != StepChange::kNoDifference) ++found;
  }
  EXPECT_LE(found, 4);  // the band of 3 % keeps most of the 5 % away that the interval lets through
}

TEST(StepChange, ASmallChangeIsNoneHoweverSure) {
  const StepChange change = CompareSteps(RunOf(0.1, 0.001, 1), RunOf(0.102, 0.001, 2));
  EXPECT_EQ(change.kind, StepChange::kNoDifference);
  EXPECT_GT(change.low, 0) << "it is sure";
  EXPECT_FALSE(CompareSteps(RunOf(0.1, 0.001, 1), RunOf(0.105, 0.001, 2)).material);
}

TEST(StepChange, AChangeWithinTheNoiseOfARunIsNone) {
  std::vector<double> waves;  // parts of the run differ by a factor of 2
  for (int i = 0; i < 400; ++i) waves.push_back((i / 40) % 2 == 0 ? 0.1 : 0.2);
  const StepChange change = CompareSteps(waves, RunOf(0.13, 0.01, 1));
  EXPECT_EQ(change.kind, StepChange::kNoDifference);
  EXPECT_GT(change.noise_percent, 20);
}

TEST(StepChange, TooFewOrImpossibleTimesAreNotEnough) {
  const std::vector<double> enough = RunOf(0.1, 0.1, 1, 20);
  EXPECT_EQ(CompareSteps({}, enough).kind, StepChange::kNotEnough);
  EXPECT_EQ(CompareSteps(RunOf(0.1, 0.1, 1, 19), enough).kind, StepChange::kNotEnough);
  const std::vector<double> wrong(100, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(CompareSteps(wrong, enough).kind, StepChange::kNotEnough);
  EXPECT_EQ(CompareSteps(std::vector<double>(100, 0.0), enough).kind, StepChange::kNotEnough);
  EXPECT_NE(SentenceOf({}).find("Not enough data"), std::string::npos);
}

TEST(StepChange, EqualTimesHaveNoNoise) {
  const StepChange same = CompareSteps(std::vector<double>(50, 0.1), std::vector<double>(50, 0.1));
  EXPECT_EQ(same.kind, StepChange::kNoDifference);
  EXPECT_EQ(same.percent, 0);
  const StepChange half = CompareSteps(std::vector<double>(50, 0.1), std::vector<double>(50, 0.05));
  EXPECT_EQ(SentenceOf(half),
            "The steps of b take 50.0 % less time (95 % confidence: 50.0 % to 50.0 %).");
}

}  // namespace
}  // namespace stepscope
