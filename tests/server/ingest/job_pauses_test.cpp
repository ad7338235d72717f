#include "server/ingest/job_pauses.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr SteadyTime kThen(1h);

TEST(JobPauses, GetLongerAndEndWithAnAnswer) {
  JobPauses pauses;
  pauses.Note("a", Unavailable("away"), kThen);
  EXPECT_TRUE(pauses.IsPaused("a", kThen + 499ms));
  EXPECT_FALSE(pauses.IsPaused("a", kThen + 500ms));
  EXPECT_FALSE(pauses.IsPaused("b", kThen)) << "another job";
  for (int i = 0; i < 9; ++i) pauses.Note("a", Unavailable("away"), kThen);
  EXPECT_TRUE(pauses.IsPaused("a", kThen + JobPauses::kLongest - 1ms));
  EXPECT_FALSE(pauses.IsPaused("a", kThen + JobPauses::kLongest));
  pauses.Note("a", {}, kThen);
  EXPECT_FALSE(pauses.IsPaused("a", kThen));
}

TEST(JobPauses, AreForMachinesThatAreAwayAlone) {
  JobPauses pauses;
  pauses.Note("a", Internal("a fault of ours"), kThen);
  pauses.Note("b", Invalid("a bad frame"), kThen);
  EXPECT_FALSE(pauses.IsPaused("a", kThen) || pauses.IsPaused("b", kThen));
}

TEST(JobPauses, AreBounded) {
  JobPauses pauses;
  for (std::size_t i = 0; i <= JobPauses::kMostJobs; ++i) {
    pauses.Note(std::to_string(i), Unavailable("away"), kThen);
  }
  EXPECT_FALSE(pauses.IsPaused("0", kThen)) << "they began anew";
  EXPECT_TRUE(pauses.IsPaused(std::to_string(JobPauses::kMostJobs), kThen));
}

}  // namespace
}  // namespace stepscope
