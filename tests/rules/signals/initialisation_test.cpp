#include "rules/signals/initialisation.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

using Tick = Initialisation::Tick;

Time At(int second) {
  return Time(std::chrono::seconds(second));
}

TEST(Initialisation, EndsAfterPatienceSamplesOfEachNode) {
  Initialisation start(3, {});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(start.Observe("a", At(i)), Tick::kNotJudged);
  EXPECT_EQ(start.Reason(), "3 of 3 samples seen");
  EXPECT_EQ(start.Observe("a", At(3)), Tick::kJudged);
  EXPECT_EQ(start.Observe("b", At(3)), Tick::kNotJudged);
  EXPECT_TRUE(start.IsOver("a"));
  EXPECT_FALSE(start.IsOver("b"));
}

TEST(Initialisation, EndsWithTheFirstStepOfAnyRank) {
  Initialisation start(1000, {});
  const Step late{0, At(6), 2s, {}}, early{0, At(4), 2s, {}};
  start.Observe({0, "a", {&late, 1}});
  start.Observe({1, "a", {&early, 1}});
  EXPECT_EQ(start.Observe("a", At(5)), Tick::kNotJudged);
  EXPECT_EQ(start.Observe("a", At(6)), Tick::kFirstAfterStep);
  EXPECT_EQ(start.Observe("a", At(7)), Tick::kJudged);
}

TEST(Initialisation, WaitsForTheFirstStepOfAProcessThatConnected) {
  JobFacts facts;
  facts.first_rank = At(0);
  Initialisation start(3, facts);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(start.Observe("a", At(i)), Tick::kNotJudged);
  EXPECT_EQ(start.Reason(), "no training step has ended yet; 1,000 samples seen");
}

TEST(Initialisation, GivesUpOnAProcessThatNeverSteps) {
  JobFacts facts;
  facts.first_rank = At(0);
  Initialisation start(3, facts);
  for (int i = 0; i < 10; ++i) start.Observe("a", At(i));
  EXPECT_EQ(start.Observe("a", At(20 * 60)), Tick::kJudged);
}

// The first ticks do not show that a process will connect later.
TEST(Initialisation, WithoutPatienceIsOverAnewWithTheFirstStep) {
  JobFacts facts;
  facts.first_rank = At(2);
  Initialisation start(0, facts);
  EXPECT_EQ(start.Observe("a", At(1)), Tick::kJudged);
  EXPECT_EQ(start.Observe("a", At(2)), Tick::kNotJudged);
  const Step step{0, At(3), 1s, {}};
  start.Observe({0, "a", {&step, 1}});
  EXPECT_EQ(start.Observe("a", At(4)), Tick::kFirstAfterStep);
  EXPECT_EQ(start.Observe("a", At(5)), Tick::kJudged);
}

TEST(Initialisation, IsOverOnce) {
  Initialisation start(1, {}), loaded(1, {});
  start.Observe("a", At(0));
  start.Observe("a", At(1));
  const Step step{0, At(2), 1s, {}};
  start.Observe({0, "a", {&step, 1}});
  ASSERT_TRUE(LoadFields(SaveFields(start), loaded).ok());
  EXPECT_EQ(loaded.Observe("a", At(5)), Tick::kJudged);
}

}  // namespace
}  // namespace stepscope
