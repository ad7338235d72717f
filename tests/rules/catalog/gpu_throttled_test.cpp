#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "GPUThrottled";

// GPU 1 of two is held down in every `power`th and every `heat`th sample; 0 is never.
Scenario Held(std::size_t power, std::size_t heat, double gpu = 90) {
  const auto every = [](std::size_t n) {
    return [=](auto, auto tick) { return n > 0 && tick % n == 0 ? 100.0 : 0.0; };
  };
  Scenario scenario;
  scenario.gpus = 2;
  scenario.stretches = {{1000, gpu}};
  scenario.extras = {{{"gpu_power_throttle_percent", "0"}, every(0)},
                     {{"gpu_power_throttle_percent", "1"}, every(power)},
                     {{"gpu_thermal_throttle_percent", "1"}, every(heat)}};
  return scenario;
}

TEST(GpuThrottled, FiresForAGpuThatHeatHoldsDown) {
  const auto outcome = Judge(kRule, MakeJob(Held(0, 4)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.sentence,
            "GPU 1 of node node-0 was held down in 25.0 % of 1,000 samples (500 s) in which it was "
            "busy, by its power limit in 0.0 %, by heat in 25.0 %; the threshold is 10 %; 1 of 2 "
            "GPUs fired 9 times in 9 scans.");
  EXPECT_EQ(outcome.verdict.severity, Severity::kMedium);
  EXPECT_DOUBLE_EQ(outcome.verdict.share, 250.0 / 2000);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.device, "1");
  EXPECT_EQ(outcome.findings[0].from, FromMicros(kOriginUs));
}

// The clocks were held down while the job warmed up, before a process connected and after.
TEST(GpuThrottled, DoesNotJudgeTheStart) {
  Scenario warm = Held(0, 0);
  warm.extras[2].value = [](auto, auto tick) { return tick < 200 ? 100.0 : 0.0; };
  warm.ranks = {{100s, 1000, 200ms}};
  Job job = MakeJob(warm);
  job.facts.first_rank = job.origin + 3s;
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kClear);
}

TEST(GpuThrottled, TellsThePowerLimitFromHeat) {
  const auto verdict = Judge(kRule, MakeJob(Held(2, 0))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(verdict.severity, Severity::kLow);
  EXPECT_NE(verdict.sentence.find("power limit in 50.0 %"), std::string::npos) << verdict.sentence;
}

TEST(GpuThrottled, IsClearBelowTheThreshold) {
  EXPECT_EQ(Judge(kRule, MakeJob(Held(20, 0))).verdict.kind, VerdictKind::kClear);
}

TEST(GpuThrottled, IsUnknownForIdleGpusAndWithoutSamples) {
  EXPECT_EQ(Judge(kRule, MakeJob(Held(1, 1, 3))).verdict.sentence,
            "0 of 60 samples of a busy GPU seen");
  Scenario silent = Held(1, 1), no_gpu = Held(1, 1);
  silent.extras.clear();
  EXPECT_EQ(Judge(kRule, MakeJob(silent)).verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(Judge(kRule, MakeJob(silent)).verdict.sentence,
            "no GPU gives samples of gpu_power_throttle_percent");
  no_gpu.gpus = 0;
  EXPECT_EQ(Judge(kRule, MakeJob(no_gpu)).verdict.sentence, "no GPU on any node");
}

TEST(GpuThrottled, RefusesParametersOutOfRange) {
  EXPECT_EQ(CompleteParameters(*FindRule(kRule), {{"threshold", -1}}).error().message,
            "GPUThrottled: threshold is -1, but must be a number from 0 to 100 %");
}

}  // namespace
}  // namespace stepscope::scenarios
