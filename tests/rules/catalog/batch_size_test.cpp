#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "BatchSize";

// `memory` swings by a point, as an allocator's does.
Scenario Used(double cpu, double gpu, double memory, std::size_t ticks = 1300) {
  Scenario scenario;
  scenario.stretches = {{ticks, gpu, cpu, cpu, 0, 0}};
  scenario.extras = {{{"gpu_memory_used_percent", "0"},
                      [=](auto, auto tick) { return memory + (tick % 20 < 10 ? 0 : 1); }}};
  return scenario;
}

TEST(BatchSize, FiresWhenAllHaveRoom) {
  const auto outcome = Judge(kRule, MakeJob(Used(30, 40, 20)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.sentence,
            "GPU 0 of node node-0: over its last 500 samples (250 s) the 95th percentiles are "
            "40.0 % of its use (threshold 70 %), 21.0 % of its allocated memory (70 %) and 30.0 % "
            "of the node's CPU (70 %); 1 of 1 GPU fired 3 times in 3 scans.");
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.device, "0");
}

TEST(BatchSize, IsClearWhenOneOfThemIsUsed) {
  EXPECT_EQ(Judge(kRule, MakeJob(Used(80, 40, 20))).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, MakeJob(Used(30, 80, 20))).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, MakeJob(Used(30, 40, 80))).verdict.kind, VerdictKind::kClear);
}

TEST(BatchSize, CannotJudgeMemoryThatIsAllocatedInAdvance) {
  Scenario reserved = Used(30, 40, 90);
  reserved.extras[0].value = [](auto, auto) { return 90.0; };
  const auto verdict = Judge(kRule, MakeJob(reserved)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(verdict.sentence,
            "90.0 % of a GPU's memory stays allocated, as when a framework takes it all in "
            "advance, in 3 scans: how much the batch needs cannot be seen");
}

TEST(BatchSize, IsUnknownWithoutGpuMemoryOrEnoughSamples) {
  Scenario no_gpu = Used(30, 40, 20), no_memory = Used(30, 40, 20);
  no_gpu.gpus = 0;
  no_gpu.extras.clear();
  no_memory.extras.clear();
  EXPECT_EQ(Judge(kRule, MakeJob(no_gpu)).verdict.sentence, "no GPU on any node");
  EXPECT_EQ(Judge(kRule, MakeJob(no_memory)).verdict.sentence,
            "no GPU gives samples of gpu_memory_used_percent");
  EXPECT_EQ(Judge(kRule, MakeJob(Used(30, 40, 20, 700))).verdict.sentence,
            "700 of 1,000 samples seen");
  EXPECT_EQ(Judge(kRule, MakeJob(Used(30, 40, 20)), {{"window", 5000}}).verdict.sentence,
            "1,300 of 5,000 samples of a GPU's window seen since the initialisation");
}

TEST(BatchSize, RefusesParametersOutOfRange) {
  EXPECT_EQ(CompleteParameters(*FindRule(kRule), {{"window", 0}}).error().message,
            "BatchSize: window is 0, but must be a whole number from 1 to 65000 samples, or a time "
            "such as \"250s\"");
}

}  // namespace
}  // namespace stepscope::scenarios
