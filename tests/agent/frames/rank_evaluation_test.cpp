#include "agent/frames/rank_evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

namespace stepscope {
namespace {

struct RankEvaluationTest : testing::Test {
  // The value of rank 0 at a tick half a second after the one before.
  double Tick(std::map<std::int32_t, Duration> said = {}) {
    told = std::move(said);
    now += 500ms;
    row.Clear();
    EXPECT_TRUE(evaluation.Collect(now, row).ok());
    return row.size() == 0 ? std::nan("") : row.At("rank_evaluating_percent", "rank0");
  }

  std::map<std::int32_t, Duration> told;
  RankEvaluation evaluation{[this](const UseEvaluated& use) {
    for (const auto& [rank, time] : std::exchange(told, {})) use(rank, time);
  }};
  SteadyTime now{};
  TickRow row;
};

TEST_F(RankEvaluationTest, HasNoSamplesBeforeTheFirstEvaluation) {
  for (int i = 0; i < 10; ++i) Tick();
  EXPECT_EQ(row.size(), 0u);
}

TEST_F(RankEvaluationTest, FillsTheTicksThatFollowAPiece) {
  Tick();
  EXPECT_EQ(Tick({{0, 1250ms}}), 100);
  EXPECT_EQ(Tick(), 100);
  EXPECT_EQ(Tick(), 50);
  EXPECT_EQ(Tick(), 0);
  EXPECT_EQ(Tick({{0, 125ms}}), 25);
}

TEST_F(RankEvaluationTest, IsWithoutAGapWhileTheEvaluationGoesOn) {
  Tick();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(i % 20 == 0 ? Tick({{0, 10s}}) : Tick(), 100) << i;
  }
}

TEST_F(RankEvaluationTest, ForgetsWhatIsTooLateToBeThePresent) {
  Tick();
  EXPECT_EQ(Tick({{0, 1h}}), 100);
  for (int i = 0; i < 29; ++i) EXPECT_EQ(Tick(), 100) << i;
  EXPECT_EQ(Tick(), 0);
}

TEST_F(RankEvaluationTest, KeepsTheRanksApart) {
  Tick();
  EXPECT_EQ(Tick({{0, 500ms}, {7, 250ms}}), 100);
  EXPECT_EQ(row.At("rank_evaluating_percent", "rank7"), 50);
}

TEST_F(RankEvaluationTest, KeepsWhatItHeardAtItsFirstTick) {
  Tick({{0, 500ms}});
  EXPECT_EQ(Tick(), 100);
}

}  // namespace
}  // namespace stepscope
