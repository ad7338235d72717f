#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "IOBottleneck";

// One core waits for disks, the others do not.
Scenario Waiting(double gpu, double io_wait) {
  Scenario scenario;
  scenario.gpus = 2;
  scenario.stretches = {{2000, gpu, 20, 10, io_wait / 4, 0}};
  scenario.extras = {{{"cpu_iowait_percent", "0"}, [=](auto, auto) { return io_wait; }},
                     {{"cpu_iowait_percent", "1"}, [](auto, auto) { return 0.0; }}};
  return scenario;
}

TEST(IoBottleneck, FiresWhenACoreWaitsAndAGpuIdles) {
  const auto outcome = Judge(kRule, MakeJob(Waiting(3, 75)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.sentence,
            "A GPU was below 10 % while a core waited for disks for more than 50 % of its time in "
            "100.0 % of 1,000 samples (500 s); the threshold is 50 %.");
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.node, "node-0");
}

// Above 32 cores the agent sends the mean of all only.
TEST(IoBottleneck, GoesByTheNodeWhereCoresAreNotSampled) {
  Scenario many = Waiting(3, 0);
  many.cores = 64;
  many.extras.clear();
  many.stretches[0].io_wait = 1.2;  // 77 % of one core
  EXPECT_EQ(Judge(kRule, MakeJob(many)).verdict.kind, VerdictKind::kFinding);
  many.stretches[0].io_wait = 0.7;
  EXPECT_EQ(Judge(kRule, MakeJob(many)).verdict.kind, VerdictKind::kClear);
}

TEST(IoBottleneck, IsClearWhenTheGpuIsBusyOrNothingWaits) {
  EXPECT_EQ(Judge(kRule, MakeJob(Waiting(80, 75))).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, MakeJob(Waiting(3, 40))).verdict.kind, VerdictKind::kClear);
}

TEST(IoBottleneck, IsUnknownWithoutGpuOrSamples) {
  Scenario no_gpu = Waiting(3, 75), no_wait = Waiting(3, 75), small = Waiting(3, 75);
  no_gpu.gpus = 0;
  EXPECT_EQ(Judge(kRule, MakeJob(no_gpu)).verdict.sentence, "no GPU on any node");
  no_wait.extras = {{{"node_iowait_percent", ""}, [](auto, auto) { return std::nullopt; }}};
  const auto verdict = Judge(kRule, MakeJob(no_wait)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(verdict.sentence, "no sample has a GPU's use and I/O wait");
  small.stretches[0].ticks = 700;
  EXPECT_EQ(Judge(kRule, MakeJob(small)).verdict.sentence, "700 of 1,000 samples seen");
}

TEST(IoBottleneck, RefusesParametersOutOfRange) {
  const auto refused = CompleteParameters(*FindRule(kRule), {{"io_threshold", 101}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "IOBottleneck: io_threshold is 101, but must be a number from 0 to 100 %");
}

}  // namespace
}  // namespace stepscope::scenarios
