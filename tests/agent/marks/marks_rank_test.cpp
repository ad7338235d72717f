#include "agent/marks/marks_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/json.h"

namespace stepscope {
namespace {

using testing::HasSubstr;

// Rings are told apart by their addresses.
struct RankRecordTest : testing::Test {
  void Mark(const int& ring, std::int64_t pid) {
    Step step;
    step.number = next_++;
    rank.AddStep({&ring, pid}, step, 0);
  }
  std::string Warning() const {
    MarkSource first;
    first.hello.rank = 3;
    return ParseJson(rank.Facts(first, {&first}))->value("second_process", "");
  }

  RankRecord rank;
  const int first_ = 0, second_ = 0, third_ = 0;

 private:
  std::int64_t next_ = 0;
};

TEST_F(RankRecordTest, ThreadsOfOneProcessAndProcessesOneAfterTheOtherAreNoWarning) {
  Mark(first_, 12);
  Mark(second_, 12);
  rank.RingEnded(&first_);
  rank.RingEnded(&second_);
  Mark(third_, 34);
  EXPECT_EQ(Warning(), "");
  EXPECT_EQ(rank.Take(3).steps.size(), 2u);
}

TEST_F(RankRecordTest, ASecondProcessOfARankIsToldAndItsStepsAreLeftOut) {
  Mark(first_, 12);
  Mark(second_, 34);
  Mark(second_, 34);
  EXPECT_EQ(Warning(),
            "2 processes say that they are rank 3: pid 12, 34; the steps of one are shown, now of "
            "pid 12");
  EXPECT_EQ(rank.Take(3).steps.size(), 1u);
}

TEST_F(RankRecordTest, TheSecondProcessGoesOnWhenTheFirstHasEnded) {
  Mark(first_, 12);
  Mark(second_, 34);
  rank.RingEnded(&first_);
  Mark(second_, 34);
  EXPECT_THAT(Warning(), HasSubstr("now of pid 34"));
}

TEST_F(RankRecordTest, ManyProcessesAreABoundedWarning) {
  Mark(first_, 1);
  for (int pid = 2; pid < 1000; ++pid) Mark(second_, pid);
  EXPECT_THAT(Warning(), HasSubstr("8 or more processes say that they are rank 3: pid 1, 2, 3, 4"));
  EXPECT_LT(Warning().size(), 200u);
}

}  // namespace
}  // namespace stepscope
