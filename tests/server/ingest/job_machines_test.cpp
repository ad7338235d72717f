#include "server/ingest/job_machines.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr SteadyTime kThen(1h);

TEST(JobMachines, AreAskedForAgainAfterAWhile) {
  JobMachines machines;
  EXPECT_FALSE(machines.IsFresh("a", kThen));
  machines.Put("a", CitusMachine{3, "", 0}, kThen);
  EXPECT_EQ(machines.Of("a"), 3);
  EXPECT_TRUE(machines.IsFresh("a", kThen + JobMachines::kFresh - 1ms));
  EXPECT_FALSE(machines.IsFresh("a", kThen + JobMachines::kFresh));
  EXPECT_EQ(machines.Of("a"), 3) << "the old answer is better than none";
}

TEST(JobMachines, MayBeUnknown) {
  JobMachines machines;
  machines.Put("a", std::nullopt, kThen);
  EXPECT_EQ(machines.Of("a"), std::nullopt);
  EXPECT_TRUE(machines.IsFresh("a", kThen));
}

TEST(JobMachines, AMachineThatAnsweredDoesNotHang) {
  JobMachines machines;
  machines.Put("a", CitusMachine{3, "", 0}, kThen);
  machines.Put("b", CitusMachine{4, "", 0}, kThen);
  EXPECT_FALSE(machines.HasAnsweredSince("a", kThen));
  machines.NoteAnswer(3, kThen + 1s);
  EXPECT_TRUE(machines.HasAnsweredSince("a", kThen));
  EXPECT_FALSE(machines.HasAnsweredSince("a", kThen + 2s)) << "nothing was heard since";
  EXPECT_FALSE(machines.HasAnsweredSince("b", kThen)) << "another one answered";
  EXPECT_FALSE(machines.HasAnsweredSince("c", kThen)) << "where it lies is not known";
}

TEST(JobMachines, AreBounded) {
  JobMachines machines;
  for (std::size_t i = 0; i <= JobMachines::kMostJobs; ++i)
    machines.Put(std::to_string(i), CitusMachine{1, "", 0}, kThen);
  EXPECT_EQ(machines.Of("0"), std::nullopt) << "they began anew";
  EXPECT_EQ(machines.Of(std::to_string(JobMachines::kMostJobs)), 1);
}

}  // namespace
}  // namespace stepscope
