#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "IdleGPU";

// GPU 3 of four is used from a tick on.
Scenario Four(std::size_t ticks, std::size_t used_from) {
  Scenario scenario;
  scenario.gpus = 4;
  scenario.stretches = {{ticks, 80}};
  scenario.extras = {
      {{"gpu_util_percent", "3"}, [=](auto, auto tick) { return tick < used_from ? 0.0 : 60.0; }}};
  return scenario;
}
constexpr std::size_t kNever = 1'000'000;

TEST(IdleGpu, FiresForTheOneThatIsNeverUsed) {
  const auto outcome = Judge(kRule, MakeJob(Four(2400, kNever)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.sentence,
            "GPU 3 of node node-0 was never above 1 % in 20 min; 1 of 4 GPUs fired 10 times in 10 "
            "scans.");
  EXPECT_DOUBLE_EQ(outcome.verdict.share, 0.25);  // though it is judged after ten minutes only
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_EQ(outcome.verdict.evidence["advice"],
            "Give GPU 3 of node node-0 work: start a rank for it, and see that its process may use "
            "it (CUDA_VISIBLE_DEVICES); or ask for one GPU fewer.");
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject, (Subject{"node-0", "3"}));
}

TEST(IdleGpu, AdvisesAboutAFewByTheirNamesAndAboutAllInGeneral) {
  Scenario scenario = Four(2400, kNever);
  const auto unused = [](auto, auto) { return 0.0; };
  scenario.extras.push_back({{"gpu_util_percent", "1"}, unused});
  EXPECT_EQ(Judge(kRule, MakeJob(scenario)).verdict.evidence["advice"],
            "Give GPU 1 of node node-0 and GPU 3 of node node-0 work: start a rank for each, and "
            "see that the processes may use them (CUDA_VISIBLE_DEVICES); or ask for 2 GPUs fewer.");
  scenario.gpus = 6;
  scenario.extras.push_back({{"gpu_util_percent", "4"}, unused});
  scenario.extras.push_back({{"gpu_util_percent", "5"}, unused});
  const std::string advice = Judge(kRule, MakeJob(scenario)).verdict.evidence["advice"];
  EXPECT_NE(advice.find("node-0, GPU 4 of node node-0 and 1 more work"), std::string::npos)
      << advice;
  scenario.stretches = {{4000, 0}};
  const auto all = Judge(kRule, MakeJob(scenario)).verdict;
  EXPECT_EQ(all.kind, VerdictKind::kFinding);
  EXPECT_EQ(all.evidence["advice"], FindRule(kRule)->advice);
}

TEST(IdleGpu, IsClearWhenAllAreUsed) {
  const auto verdict = Judge(kRule, MakeJob(Four(2400, 600))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(verdict.sentence, "4 of 4 GPUs were above 1 %; none was idle for 10 min.");
}

TEST(IdleGpu, SaysThatItWasUsedLater) {
  const auto verdict = Judge(kRule, MakeJob(Four(4000, 3000))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_FALSE(verdict.active);
  EXPECT_NE(verdict.sentence.find("the last 25 min after the first sample"), std::string::npos)
      << verdict.sentence;
}

// Twenty minutes of start-up in which no GPU works are nobody's fault.
TEST(IdleGpu, DoesNotCountTheStartOfTheJob) {
  Scenario slow = Four(0, kNever);
  slow.extras.clear();
  slow.stretches = {{2400, 0, 0, 5, 0, 0}, {1000, 90}};
  EXPECT_EQ(Judge(kRule, MakeJob(slow)).verdict.kind, VerdictKind::kClear);
  slow.stretches = {{6000, 0, 0, 5, 0, 0}};  // 50 min
  EXPECT_EQ(Judge(kRule, MakeJob(slow)).verdict.kind, VerdictKind::kFinding);
}

// With steps only the use during the steps counts.
TEST(IdleGpu, CountsFromTheFirstStep) {
  Scenario warm = Four(3000, kNever);
  warm.extras[0].value = [](auto, auto tick) { return tick < 100 ? 50.0 : 0.0; };
  EXPECT_EQ(Judge(kRule, MakeJob(warm)).verdict.kind, VerdictKind::kClear);
  warm.ranks = {{60s, 1000, 1s}};
  EXPECT_EQ(Judge(kRule, MakeJob(warm)).verdict.kind, VerdictKind::kFinding);
}

TEST(IdleGpu, IsUnknownWithoutGpuOrEnoughTime) {
  Scenario no_gpu = Four(2400, kNever);
  no_gpu.gpus = 0;
  no_gpu.extras.clear();
  EXPECT_EQ(Judge(kRule, MakeJob(no_gpu)).verdict.sentence, "no GPU on any node");
  const auto verdict = Judge(kRule, MakeJob(Four(700, kNever))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(verdict.sentence, "700 of 1,200 samples seen");
}

TEST(IdleGpu, RefusesParametersOutOfRange) {
  EXPECT_EQ(CompleteParameters(*FindRule(kRule), {{"minutes", 0}}).error().message,
            "IdleGPU: minutes is 0, but must be a number from 1 to 10000 minutes");
}

}  // namespace
}  // namespace stepscope::scenarios
