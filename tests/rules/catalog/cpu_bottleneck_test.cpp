#include <gtest/gtest.h>

#include "rules/engine/sentence.h"
#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "CPUBottleneck";

Scenario Saturated(std::size_t ticks) {
  Scenario scenario;
  scenario.gpus = 2;
  scenario.stretches = {{ticks, 3, 98}};
  return scenario;
}

TEST(CpuBottleneck, FiresWhenACoreIsSaturatedAndAGpuIdles) {
  const auto outcome = Judge(kRule, MakeJob(Saturated(2000)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.sentence,
            "A GPU was below 10 % while a core was above 90 % in 100.0 % of 1,000 samples (500 s); "
            "the threshold is 50 %.");
  EXPECT_EQ(outcome.verdict.evidence["bottleneck"], 1000);
  EXPECT_EQ(outcome.verdict.share, 1);
  EXPECT_TRUE(outcome.verdict.active);
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.node, "node-0");
}

TEST(CpuBottleneck, IsClearWhenTheGpuIsBusyOrNoCoreIs) {
  Scenario busy = Saturated(2000), lazy = Saturated(2000);
  busy.stretches[0].gpu = 80;
  lazy.stretches[0].busiest_core = 60;
  EXPECT_EQ(Judge(kRule, MakeJob(busy)).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, MakeJob(lazy)).verdict.kind, VerdictKind::kClear);
}

// The time of two nodes adds up to more than the job took.
TEST(CpuBottleneck, SaysWhoseTimeItCounts) {
  Scenario two = Saturated(2000);
  two.nodes = 2;
  const auto outcome = Judge(kRule, MakeJob(two));
  EXPECT_NE(outcome.verdict.sentence.find("2,000 samples (1000 s of 2 nodes together)"),
            std::string::npos)
      << outcome.verdict.sentence;
  EXPECT_NE(outcome.findings[0].sentence.find(" s); the threshold"), std::string::npos)
      << outcome.findings[0].sentence;
}

// Waiting for a disk is not using the CPU: the metric of a core leaves it out.
TEST(CpuBottleneck, DoesNotCountWaitingForDisks) {
  Scenario waiting = Saturated(2000);
  waiting.stretches[0].busiest_core = 20;
  waiting.stretches[0].io_wait = 75;
  EXPECT_EQ(Judge(kRule, MakeJob(waiting)).verdict.kind, VerdictKind::kClear);
}

TEST(CpuBottleneck, IsUnknownWithoutAGpuOrEnoughSamples) {
  Scenario no_gpu = Saturated(2000);
  no_gpu.gpus = 0;
  EXPECT_EQ(Judge(kRule, MakeJob(no_gpu)).verdict.sentence, "no GPU on any node");
  EXPECT_EQ(Judge(kRule, MakeJob(no_gpu)).verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(Judge(kRule, MakeJob(Saturated(900))).verdict.sentence, "900 of 1,000 samples seen");
  EXPECT_EQ(Judge(kRule, MakeJob(Saturated(1040))).verdict.sentence,
            "40 of 60 judged samples seen");
}

TEST(CpuBottleneck, NeedsMoreThanTheThreshold) {
  Scenario half = Saturated(0);
  half.stretches = {{1000, 90, 20}, {600, 90, 20}, {600, 3, 98}};  // exactly half of the judged
  EXPECT_EQ(Judge(kRule, MakeJob(half)).verdict.kind, VerdictKind::kClear);
  half.stretches[2].ticks = 602;
  EXPECT_EQ(Judge(kRule, MakeJob(half)).verdict.kind, VerdictKind::kFinding);
}

// It fired during the first minutes and was fine from then on: the status stays, and the sentence
// says so.
TEST(CpuBottleneck, SaysThatItNoLongerFires) {
  Scenario start = Saturated(0);
  start.stretches = {{1400, 3, 98}, {4000, 95, 20}};
  const auto verdict = Judge(kRule, MakeJob(start)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_FALSE(verdict.active);
  EXPECT_LT(verdict.share, 0.12);
  EXPECT_NE(verdict.sentence.find("It was above in"), std::string::npos) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("The newest scan is not above it."), std::string::npos);
}

// The finding begins with the first judged tick, and its sentence covers all of it.
TEST(CpuBottleneck, AFindingIsOfItsWholeStretch) {
  const Job job = MakeJob(Saturated(2000));
  const auto findings = Judge(kRule, job).findings;
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].from, job.origin + 500s);
  EXPECT_NE(findings[0].sentence.find("in 100.0 % of 1,000 samples (500 s)"), std::string::npos)
      << findings[0].sentence;
  EXPECT_EQ(findings[0].evidence["judged"], 1000);
}

TEST(SamplesText, CountsOne) {
  EXPECT_EQ(SamplesText(1, 60s), "1 sample (60 s)");
  EXPECT_EQ(SamplesText(1000, 500ms), "1,000 samples (500 s)");
}

TEST(CpuBottleneck, LeavesOutTicksWithoutSamples) {
  Scenario gaps = Saturated(2000);
  gaps.missing = 1;
  const auto verdict = Judge(kRule, MakeJob(gaps)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
}

}  // namespace
}  // namespace stepscope::scenarios
