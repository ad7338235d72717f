#include "agent/marks/held_steps.h"

#include <gtest/gtest.h>

#include <vector>

namespace stepscope {
namespace {

// The steps that were handed over.
struct HeldStepsTest : testing::Test {
  void Add(std::int64_t number) {
    Step step;
    step.number = number;
    held.Add(step, static_cast<std::uint64_t>(number), take);
  }
  static Mark GpuTime(std::uint64_t step, std::uint16_t name, Duration length) {
    Mark mark;
    mark.kind = MarkKind::kGpuTime;
    mark.step = step;
    mark.name = name;
    mark.duration = length;
    return mark;
  }
  void Work(std::uint64_t step, Phase phase, Duration length) {
    held.AddGpuTime(GpuTime(step, static_cast<std::uint16_t>(phase), length));
  }
  void Idle(std::uint64_t step, Duration length, bool known = true) {
    Mark mark = GpuTime(step, kGpuIdleMark, length);
    mark.clamped = !known;
    held.AddGpuTime(mark);
  }
  std::vector<std::int64_t> Taken() const {
    std::vector<std::int64_t> numbers;
    for (const Step& step : taken) numbers.push_back(step.number);
    return numbers;
  }

  HeldSteps held;
  std::vector<Step> taken;
  HeldSteps::Take take = [this](const Step& step, std::uint64_t) { taken.push_back(step); };
};
using Numbers = std::vector<std::int64_t>;

TEST_F(HeldStepsTest, WithoutGpuTimesNoStepWaits) {
  Add(0), Add(1);
  EXPECT_EQ(Taken(), Numbers({0, 1}));
  EXPECT_FALSE(taken[0].gpu_idle);
}

TEST_F(HeldStepsTest, AStepWaitsForItsGpuTimes) {
  Idle(0, 0ns, false);  // from here on it is known that times come
  Add(1), Add(2);
  EXPECT_EQ(Taken(), Numbers());
  Work(1, Phase::kForward, 2ms), Work(1, Phase::kForward, 3ms), Idle(1, 7ms);
  held.EndRound(take);
  ASSERT_EQ(Taken(), Numbers({1}));
  EXPECT_EQ(taken[0].gpu_phase(Phase::kForward), 5ms);
  EXPECT_EQ(taken[0].gpu_idle, 7ms);
}

TEST_F(HeldStepsTest, AStepWhoseIdleTimeIsNotKnownIsComplete) {
  Idle(0, 0ns, false);
  Add(1);
  Work(1, Phase::kBackward, 2ms), Idle(1, 0ns, false);
  held.EndRound(take);
  ASSERT_EQ(Taken(), Numbers({1}));
  EXPECT_FALSE(taken[0].gpu_idle);
}

TEST_F(HeldStepsTest, TimesThatNeverComeHoldNothingUpForLong) {
  Idle(0, 0ns, false);
  Add(1);
  for (int round = 1; round < HeldSteps::kMostRounds; ++round) held.EndRound(take);
  EXPECT_EQ(Taken(), Numbers());
  held.EndRound(take);
  EXPECT_EQ(Taken(), Numbers({1}));
  Work(1, Phase::kData, 1ms), Idle(1, 1ms);  // too late: dropped
  held.EndRound(take);
  EXPECT_EQ(taken.size(), 1u);
}

TEST_F(HeldStepsTest, NotManyStepsAreHeld) {
  Idle(0, 0ns, false);
  const auto most = static_cast<std::int64_t>(HeldSteps::kMostSteps);
  for (std::int64_t number = 0; number < most + 10; ++number) Add(number);
  EXPECT_EQ(taken.size(), 10u);
  held.ReleaseAll(take);
  ASSERT_EQ(taken.size(), HeldSteps::kMostSteps + 10);
  EXPECT_EQ(taken.back().number, most + 9);
}

TEST_F(HeldStepsTest, ALaterStepThatIsCompleteTakesThoseBeforeWithIt) {
  Idle(0, 0ns, false);
  Add(1), Add(2), Add(3);
  Idle(2, 4ms);
  held.EndRound(take);
  EXPECT_EQ(Taken(), Numbers({1, 2}));
  EXPECT_FALSE(taken[0].gpu_idle);
  EXPECT_EQ(taken[1].gpu_idle, 4ms);
}

TEST_F(HeldStepsTest, MarksOfNoStepOrOfNoPhaseAreDropped) {
  Add(1);
  Work(9, Phase::kData, 1ms);
  held.AddGpuTime(GpuTime(1, 500, 1ms));
  Add(2);
  Idle(2, 1ms);
  held.EndRound(take);
  EXPECT_EQ(Taken(), Numbers({1, 2}));
}

}  // namespace
}  // namespace stepscope
