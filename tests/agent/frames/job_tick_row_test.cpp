#include "agent/frames/job_tick_row.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepscope {
namespace {

struct JobTickRowTest : testing::Test {
  JobTickRowTest() {
    load_ = node.Add("load_1m");
    gpu0_ = node.Add("gpu_util_percent", "gpu0");
    gpu1_ = node.Add("gpu_util_percent", "gpu1");
    cgroup_ = node.Add("cgroup_memory_bytes");
    for (const std::size_t column : {load_, gpu0_, gpu1_, cgroup_}) node.Set(column, 7);
  }

  TickRow node;
  std::size_t load_, gpu0_, gpu1_, cgroup_;
  JobTickRow job;
};

TEST_F(JobTickRowTest, HasTheNodeAndTheGpusOfTheJob) {
  job.SetGpus({"gpu1"});
  const TickRow& row = job.Of(node);

  EXPECT_EQ(row.size(), 2u);
  EXPECT_EQ(row.At("load_1m"), 7);
  EXPECT_EQ(row.At("gpu_util_percent", "gpu1"), 7);
}

TEST_F(JobTickRowTest, TakesAGpuInWhenItBecomesTheJobs) {
  EXPECT_EQ(job.Of(node).size(), 1u);
  job.SetGpus({"gpu0"});

  EXPECT_EQ(job.Of(node).At("gpu_util_percent", "gpu0"), 7);
}

TEST_F(JobTickRowTest, LosesAGpuThatIsNotTheJobsAnyMore) {
  job.SetGpus({"gpu0", "gpu1"});
  job.Of(node);
  job.SetGpus({"gpu1"});

  EXPECT_TRUE(std::isnan(job.Of(node).At("gpu_util_percent", "gpu0")));
  EXPECT_EQ(job.Of(node).At("gpu_util_percent", "gpu1"), 7);
}

TEST_F(JobTickRowTest, KeepsTheControlGroupThatIsTheJobsOwn) {
  EXPECT_TRUE(std::isnan(job.Of(node).At("cgroup_memory_bytes")));
  EXPECT_EQ(JobTickRow(TickCgroup::kOfJob).Of(node).At("cgroup_memory_bytes"), 7);
}

TEST_F(JobTickRowTest, WhatIsMissingOnTheNodeIsMissingHere) {
  job.Of(node);
  node.Clear();

  EXPECT_TRUE(std::isnan(job.Of(node).At("load_1m")));
  EXPECT_EQ(job.Of(node).size(), 1u);
}

}  // namespace
}  // namespace stepscope
