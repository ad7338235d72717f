#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "LowGPUUtilization";

Scenario Idle(std::size_t ticks, std::size_t nodes, std::size_t gpus) {
  Scenario scenario;
  scenario.nodes = nodes;
  scenario.gpus = gpus;
  scenario.stretches = {{ticks, 4}};
  return scenario;
}

// Counts as in real jobs: one trigger for each GPU in each scan after the first 1,000 samples.
TEST(LowGpuUtilization, TriggersAsOftenAsTheCloudDebugger) {
  const struct {
    std::size_t ticks, nodes, gpus;
    int triggers;
  } kJobs[] = {{1318, 1, 1, 3}, {1068, 1, 4, 4}, {28'766, 2, 1, 464}};
  for (const auto& job : kJobs) {
    const auto outcome = Judge(kRule, MakeJob(Idle(job.ticks, job.nodes, job.gpus)));
    EXPECT_EQ(outcome.verdict.evidence["triggers"], job.triggers) << job.ticks;
    EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  }
}

TEST(LowGpuUtilization, SaysTooLittleWhenThereIs) {
  for (const std::size_t ticks : {486u, 994u, 1000u}) {
    const auto outcome = Judge(kRule, MakeJob(Idle(ticks, 1, 1)));
    EXPECT_EQ(outcome.verdict.kind, VerdictKind::kUnknown);
    EXPECT_TRUE(outcome.findings.empty());
  }
  EXPECT_EQ(Judge(kRule, MakeJob(Idle(486, 1, 1))).verdict.sentence, "486 of 1,000 samples seen");
}

TEST(LowGpuUtilization, IsUnknownWithoutAGpu) {
  const auto outcome = Judge(kRule, MakeJob(Idle(2000, 2, 0)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(outcome.verdict.sentence, "no GPU on any node");
}

TEST(LowGpuUtilization, NamesTheGpuAndItsNumbers) {
  const auto outcome = Judge(kRule, MakeJob(Idle(1318, 1, 1)));
  EXPECT_EQ(
      outcome.verdict.sentence,
      "GPU 0 of node node-0 is under-used: the 95th percentile of its last 500 samples (250 s) "
      "is 4.9 %, below 70 %; 1 of 1 GPU fired 3 times in 3 scans.");
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_EQ(outcome.verdict.share, 1);
  EXPECT_EQ(outcome.verdict.severity, Severity::kHigh);
  ASSERT_EQ(outcome.findings.size(), 1u);  // three scans, one stretch
  EXPECT_EQ(outcome.findings[0].subject.device, "0");
}

// 5 minutes of steps that fill the GPU, and one minute in which the job saves its model.
Scenario IdleAfterTheLastStep() {
  Scenario scenario;
  scenario.stretches = {{630, 97}, {120, 0, 98}};
  scenario.ranks = {{5s, 3'100, 100ms}};
  return scenario;
}

TEST(LowGpuUtilization, LeavesOutWhatFollowsTheLastStep) {
  const Verdict verdict = Judge(kRule, MakeJob(IdleAfterTheLastStep())).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear) << verdict.sentence;
  Scenario later = IdleAfterTheLastStep();
  later.stretches.push_back({700, 97});
  Job goes_on = MakeJob(later);
  Step step = goes_on.ranks[0].steps.back();
  for (int i = 0; i < 3'000; ++i) {
    step.start = goes_on.origin + 376s + i * 100ms;
    ++step.number;
    goes_on.ranks[0].steps.push_back(step);
  }
  const Verdict paused = Judge(kRule, goes_on).verdict;
  EXPECT_EQ(paused.kind, VerdictKind::kFinding) << "between steps: " << paused.sentence;
  NodeTicks& node = goes_on.nodes[0];
  node.at_us.erase(node.at_us.begin() + 640, node.at_us.begin() + 680);  // nobody was there
  for (Column& column : node.columns) {
    column.values.erase(column.values.begin() + 640, column.values.begin() + 680);
    if (column.present.empty()) continue;
    column.present.erase(column.present.begin() + 640, column.present.begin() + 680);
  }
  const Verdict again = Judge(kRule, goes_on).verdict;
  EXPECT_EQ(again.kind, VerdictKind::kClear) << "started again: " << again.sentence;
}

TEST(LowGpuUtilization, IsClearForABusyGpu) {
  Scenario busy = Idle(3000, 1, 2);
  busy.stretches[0].gpu = 95;
  const auto outcome = Judge(kRule, MakeJob(busy));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kClear) << outcome.verdict.sentence;
  EXPECT_TRUE(outcome.findings.empty());
}

TEST(LowGpuUtilization, FiresForAGpuThatSwings) {
  Scenario swings = Idle(0, 1, 1);
  swings.stretches.clear();
  for (int i = 0; i < 60; ++i) {
    swings.stretches.push_back({20, 98});
    swings.stretches.push_back({20, 2});
  }
  const auto outcome = Judge(kRule, MakeJob(swings));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_NE(outcome.verdict.sentence.find("swings between busy and idle"), std::string::npos);
}

// The GPU's median is 96 %, and it loses more than a third of its time.
TEST(LowGpuUtilization, ASwingingGpuLosesItsMean) {
  Scenario swings = Idle(0, 1, 1);
  swings.stretches.clear();
  for (int i = 0; i < 60; ++i) {
    swings.stretches.push_back({30, 96, 5, 5, 0, 0});
    swings.stretches.push_back({20, 0, 5, 5, 0, 0});
  }
  const auto verdict = Judge(kRule, MakeJob(swings)).verdict;
  EXPECT_EQ(verdict.evidence["gpus"][0]["p50_percent"], 96);
  EXPECT_DOUBLE_EQ(verdict.evidence["gpus"][0]["mean_percent"], 57.6);
  EXPECT_EQ(verdict.severity, Severity::kHigh);
}

// Whole-job median 98 %, zero in the last minutes: fired, but nothing like a job that idled all
// day.
TEST(LowGpuUtilization, TellsOneIdleEndFromAnIdleDay) {
  Scenario end = Idle(0, 1, 1);
  end.stretches = {{7000, 98}, {560, 0, 0, 0, 0, 0}};
  const auto verdict = Judge(kRule, MakeJob(end)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_LT(verdict.share, 0.15);
  EXPECT_EQ(verdict.severity, Severity::kLow);
}

TEST(LowGpuUtilization, AShortScanAtTheEndCountsByItsLength) {
  Scenario end = Idle(0, 1, 1);
  end.stretches = {{1320, 98}, {27, 0, 0, 0, 0, 0}};
  const auto verdict = Judge(kRule, MakeJob(end)).verdict;
  EXPECT_EQ(verdict.evidence["triggers"], 1) << verdict.sentence;
  EXPECT_EQ(verdict.evidence["scans"], 4);
  EXPECT_NEAR(verdict.share, 13.0 / (3 * 60 + 13), 0.001);
}

TEST(LowGpuUtilization, SaysWhenItIsOver) {
  Scenario start = Idle(0, 1, 1);
  start.stretches = {{1300, 3}, {4000, 97}};
  const auto verdict = Judge(kRule, MakeJob(start)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_FALSE(verdict.active);
  EXPECT_NE(verdict.sentence.find("the last"), std::string::npos) << verdict.sentence;
}

TEST(LowGpuUtilization, DoesNotJudgeWhatWasBeforeTheFirstStep) {
  Scenario slow = Idle(0, 1, 1);
  slow.stretches = {{1400, 0}, {1000, 97}};
  slow.ranks = {{700s, 1000, 400ms, 1}};
  const auto verdict = Judge(kRule, MakeJob(slow)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear) << verdict.sentence;
  const auto short_job = Judge(kRule, MakeJob(slow), {{"window", 5000}}).verdict;
  EXPECT_EQ(short_job.kind, VerdictKind::kUnknown);
  EXPECT_NE(short_job.sentence.find("of 5,000 samples of a GPU's window"), std::string::npos)
      << short_job.sentence;
}

}  // namespace
}  // namespace stepscope::scenarios
