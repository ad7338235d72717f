#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "GPUMemoryIncrease";

// Memory of GPU 1 of two goes from one level to another at a tick.
Scenario Jumps(double from, double to, std::size_t at, std::size_t ticks = 1600) {
  Scenario scenario;
  scenario.gpus = 2;
  scenario.stretches = {{ticks, 90}};
  scenario.extras = {
      {{"gpu_memory_used_percent", "0"}, [](auto, auto) { return 50.0; }},
      {{"gpu_memory_used_percent", "1"}, [=](auto, auto tick) { return tick < at ? from : to; }}};
  return scenario;
}

TEST(GpuMemoryIncrease, FiresWhenMemoryJumps) {
  const auto outcome = Judge(kRule, MakeJob(Jumps(20, 52, 1200)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.sentence,
            "The allocated memory of GPU 1 of node node-0 rose by 32.0 points, from a mean of 20.0 "
            "% over 10 samples (5 s) to 52.0 % over the next; the threshold is 5 points; 1 of 2 "
            "GPUs fired 1 time in 6 scans, the last 10 min after the first sample.");
  EXPECT_FALSE(outcome.verdict.active);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  // The rule fires while the means differ by more than 5 points: from the second to the eighteenth
  // sample.
  const Json& gpus = outcome.verdict.evidence["gpus"];
  EXPECT_EQ(gpus[1]["firing_samples"], 17);
  EXPECT_DOUBLE_EQ(outcome.verdict.share, 17 / (2 * gpus[1]["judged_samples"].get<double>()));
  // The early scan and the one after it are one trigger, at one time.
  const Json& evidence = outcome.verdict.evidence;
  EXPECT_EQ(evidence["triggers"], 1);
  EXPECT_EQ(evidence["last_trigger_us"], evidence["first_trigger_us"]);
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.device, "1");
}

TEST(GpuMemoryIncrease, IsClearForSmallSlowOrFallingChanges) {
  EXPECT_EQ(Judge(kRule, MakeJob(Jumps(20, 25, 1200))).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, MakeJob(Jumps(52, 20, 1200))).verdict.kind, VerdictKind::kClear);
  Scenario slow = Jumps(0, 0, 0);
  slow.extras[1].value = [](auto, auto tick) { return static_cast<double>(tick) / 20; };
  EXPECT_EQ(Judge(kRule, MakeJob(slow)).verdict.kind, VerdictKind::kClear);
}

// Without a threshold any rise fires that is not 0.0 in the sentence.
TEST(GpuMemoryIncrease, IsClearForNoRiseAtAll) {
  const Json any = {{"increase", 0}};
  EXPECT_EQ(Judge(kRule, MakeJob(Jumps(20, 20.02, 1200)), any).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, MakeJob(Jumps(20, 20.3, 1200)), any).verdict.kind, VerdictKind::kFinding);
}

TEST(GpuMemoryIncrease, DoesNotJudgeTheStart) {
  EXPECT_EQ(Judge(kRule, MakeJob(Jumps(0, 80, 500))).verdict.kind, VerdictKind::kClear);
}

TEST(GpuMemoryIncrease, IsUnknownWithoutGpuMemoryOrEnoughSamples) {
  Scenario silent = Jumps(20, 52, 1200), no_gpu = silent;
  silent.extras.clear();
  no_gpu.extras.clear();
  no_gpu.gpus = 0;
  EXPECT_EQ(Judge(kRule, MakeJob(silent)).verdict.sentence,
            "no GPU gives samples of gpu_memory_used_percent");
  EXPECT_EQ(Judge(kRule, MakeJob(no_gpu)).verdict.sentence, "no GPU on any node");
  EXPECT_EQ(Judge(kRule, MakeJob(Jumps(20, 52, 5, 1012))).verdict.sentence,
            "12 of 20 samples of two windows of a GPU seen since the initialisation");
  EXPECT_EQ(Judge(kRule, MakeJob(Jumps(20, 52, 5, 900))).verdict.kind, VerdictKind::kUnknown);
}

TEST(GpuMemoryIncrease, RefusesParametersOutOfRange) {
  EXPECT_EQ(CompleteParameters(*FindRule(kRule), {{"increase", 200}}).error().message,
            "GPUMemoryIncrease: increase is 200, but must be a number from 0 to 100 points");
}

}  // namespace
}  // namespace stepscope::scenarios
