#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "FrameworkOverhead";

// GPUs at 50 %, the training thread of rank 0 at `thread` %, steps that wait `data` % for data.
Scenario Launching(double thread, double data = 1, std::size_t ticks = 1200) {
  Scenario scenario;
  scenario.gpus = 2;
  scenario.stretches = {{ticks, 50, 40}};
  scenario.ranks = {{5s, ticks * 4, 100ms, data}};
  scenario.extras = {{{"process_thread_cpu_percent", "rank0"},
                      [=](auto, auto tick) { return thread + static_cast<double>(tick % 5); }}};
  return scenario;
}

TEST(FrameworkOverhead, FiresWhenTheTrainingThreadIsBusyAndGpusAreNot) {
  const auto outcome = Judge(kRule, MakeJob(Launching(95)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
  EXPECT_TRUE(outcome.verdict.sentence.starts_with(
      "A GPU of the job was below 70 % while a training thread used more than 90 % of a core, "
      "without waits for data or I/O, in 100.0 % of 1,"))
      << outcome.verdict.sentence;
  EXPECT_EQ(outcome.verdict.severity, Severity::kHigh);
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.node, "node-0");
  // Judging begins in the middle of a minute: with the first sample after the first step.
  EXPECT_EQ(outcome.findings[0].from, FromMicros(kOriginUs) + 5500ms);
}

// Samples come a while before the first process connects.
TEST(FrameworkOverhead, DoesNotJudgeTheStart) {
  Scenario late = Launching(95);
  late.ranks[0].start = 20s;
  Job job = MakeJob(late);
  job.facts.first_rank = job.origin + 3s;
  const auto outcome = Judge(kRule, job);
  EXPECT_EQ(outcome.verdict.evidence["judged"], 1119);  // to the end of the last whole minute
  EXPECT_EQ(outcome.findings.at(0).from, job.origin + 20500ms);
}

TEST(FrameworkOverhead, SaysWhoseTimeItCounts) {
  Scenario two = Launching(95);
  two.nodes = 2;
  two.ranks.push_back(two.ranks[0]);
  two.extras.push_back({{"process_thread_cpu_percent", "rank1"}, two.extras[0].value});
  const auto outcome = Judge(kRule, MakeJob(two));
  EXPECT_NE(outcome.verdict.sentence.find(" s of 2 nodes together); the threshold"),
            std::string::npos)
      << outcome.verdict.sentence;
  EXPECT_EQ(outcome.findings[0].sentence.find("together"), std::string::npos)
      << outcome.findings[0].sentence;
}

TEST(FrameworkOverhead, IsClearWhenGpusAreBusy) {
  Scenario busy = Launching(99);
  busy.stretches[0].gpu = 85;
  EXPECT_EQ(Judge(kRule, MakeJob(busy)).verdict.kind, VerdictKind::kClear);
}

// A training thread that loads data itself is as busy as one that launches.
TEST(FrameworkOverhead, IsClearWhenStepsWaitOrTheHostDoes) {
  EXPECT_EQ(Judge(kRule, MakeJob(Launching(99, 40))).verdict.kind, VerdictKind::kClear);
  Scenario disks = Launching(99);
  disks.stretches[0].io_wait = 60;
  EXPECT_EQ(Judge(kRule, MakeJob(disks)).verdict.kind, VerdictKind::kClear);
}

TEST(FrameworkOverhead, NeedsMoreThanTheThreshold) {
  Scenario tenth = Launching(95);
  tenth.stretches = {{1080, 90, 40}, {120, 50, 40}};
  EXPECT_EQ(Judge(kRule, MakeJob(tenth)).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, MakeJob(tenth), {{"threshold", 5}}).verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(Judge(kRule, MakeJob(tenth), {{"threshold", 5}, {"core", 100}}).verdict.kind,
            VerdictKind::kUnknown);
}

// The overhead lasts half a minute in the job's first minute, which alone is too short to be
// judged.
TEST(FrameworkOverhead, FiresWithAFindingAfterAShortFirstMinute) {
  Scenario early = Launching(95);
  early.ranks[0].start = 20s;
  early.stretches = {{80, 50, 40}, {200, 90, 40}};
  const Job job = MakeJob(early);
  const auto outcome = Judge(kRule, job);
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_GE(outcome.findings[0].from, job.origin);
}

TEST(FrameworkOverhead, SaysWhenItIsOver) {
  Scenario over = Launching(95);
  over.stretches = {{800, 50, 40}, {400, 90, 40}};
  const auto verdict = Judge(kRule, MakeJob(over)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_FALSE(verdict.active);
  EXPECT_NE(verdict.sentence.find("The newest minute is not above it."), std::string::npos);
}

// Backward passes run on threads of their own, and kernels may be too small: traces tell.
TEST(FrameworkOverhead, IsUnknownWhenTheHostShowsNoReason) {
  const auto verdict = Judge(kRule, MakeJob(Launching(60))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_NE(verdict.sentence.find("only an operator trace can tell"), std::string::npos)
      << verdict.sentence;
}

TEST(FrameworkOverhead, ByAWindowItIsKnown) {
  Job job = MakeJob(Launching(60));
  WindowFacts window{.window = 4, .of_device = true, .steps = 8};
  window.step_s = 0.1;
  window.wall_s = 1;
  window.computing_s = 0.5;
  window.host_late_s = 0.4;
  window.short_gap_s = 0.1;
  job.facts.windows = {window};
  const auto bound = Judge(kRule, job).verdict;
  EXPECT_EQ(bound.kind, VerdictKind::kFinding);
  EXPECT_EQ(bound.sentence,
            "The GPUs waited for launches 50.0 % of the time; the threshold is 15 %. In 8 steps of "
            "window 4 the GPUs computed 50.0 % of the time, waited for launches 40.0 %, idled in "
            "gaps of less than 10 us 10.0 %.");
  EXPECT_EQ(bound.evidence["windows"]["steps"], 8);
  job.facts.windows[0].host_late_s = 0;
  job.facts.windows[0].other_idle_s = 0.4;
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kClear);
}

TEST(FrameworkOverhead, IsUnknownWithoutGpusStepsOrThreads) {
  Scenario none = Launching(95);
  none.gpus = 0;
  EXPECT_EQ(Judge(kRule, MakeJob(none)).verdict.sentence, "no GPU on any node");
  Scenario no_steps = Launching(95);
  no_steps.ranks.clear();
  EXPECT_TRUE(
      Judge(kRule, MakeJob(no_steps)).verdict.sentence.starts_with("no steps reported: whether"));
  Scenario no_thread = Launching(95);
  no_thread.extras.clear();
  EXPECT_EQ(Judge(kRule, MakeJob(no_thread)).verdict.sentence,
            "no whole minute has samples of a GPU's use and a training thread's");
}

TEST(FrameworkOverhead, DoesNotDependOnSlices) {
  Scenario scenario = Launching(88);
  scenario.nodes = 2;
  scenario.stretches = {{500, 50, 40}, {300, 80, 40}, {400, 30, 40}};
  scenario.ranks.push_back({7s, 60, 8s, 3});
  const Job job = MakeJob(scenario);
  const std::string whole = ToText(Judge(kRule, job));
  for (std::uint64_t slicing = 1; slicing <= 10; ++slicing) {
    ASSERT_EQ(whole, ToText(Judge(kRule, job, {}, slicing))) << "slicing " << slicing;
  }
}

TEST(FrameworkOverhead, RefusesParametersOutOfRange) {
  EXPECT_EQ(CompleteParameters(*FindRule(kRule), {{"core", 101}}).error().message,
            "FrameworkOverhead: core is 101, but must be a number from 0 to 100 %");
  EXPECT_FALSE(CompleteParameters(*FindRule(kRule), {{"gpu", 70}}).ok());
}

}  // namespace
}  // namespace stepscope::scenarios
