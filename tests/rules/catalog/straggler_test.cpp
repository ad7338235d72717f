#include <gtest/gtest.h>

#include "rules/engine/finding_track.h"
#include "tests/rules/ranks/lock_step.h"
#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "Straggler";

// Four ranks on two nodes that step together; rank 2 waits `slow` for data in each step and the
// others wait for it.
Job Training(Duration slow, std::size_t steps = 3000) {
  Scenario scenario;
  scenario.nodes = 2;
  scenario.stretches = {{1000, 50, 20}};
  const Steps steps_of_rank = {5s, steps, 100ms + slow};
  scenario.ranks = {steps_of_rank, steps_of_rank, steps_of_rank, steps_of_rank};
  Job job = MakeJob(scenario);
  for (RankSteps& rank : job.ranks) {
    const Phase phase = rank.rank == 2 ? Phase::kData : Phase::kCommunication;
    for (Step& step : rank.steps) {
      step.phases = {};
      step.phases[static_cast<std::size_t>(phase)] = slow;
    }
  }
  return job;
}

TEST(Straggler, NamesTheRankTheNodeAndWhatIsDifferentThere) {
  const auto outcome = Judge(kRule, Training(25ms));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
  EXPECT_EQ(
      outcome.verdict.sentence,
      "Rank 2 on node node-0 is late: it works 25 ms longer than the median rank on a step (20 "
      "% of it), mostly data; the others wait for it in communication.");
  EXPECT_EQ(outcome.verdict.severity, Severity::kMedium);
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  EXPECT_EQ(outcome.verdict.share, 1);
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.rank, 2);
  EXPECT_EQ(outcome.findings[0].from, FromMicros(kOriginUs) + 5s);  // in the middle of a minute
}

TEST(Straggler, StaysAFindingAfterItWasSlow) {
  Job job = Training(25ms);
  for (RankSteps& rank : job.ranks) {
    for (Step& step : rank.steps) {
      if (step.start >= job.origin + 105s) step.phases = {};
    }
  }
  const auto outcome = Judge(kRule, job);
  EXPECT_TRUE(outcome.verdict.fired) << outcome.verdict.sentence;
  EXPECT_FALSE(outcome.verdict.active);
  EXPECT_LT(outcome.verdict.share, 0.5);
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_LE(outcome.findings[0].to, job.origin + 120s);
}

TEST(Straggler, IsClearWhenAllWorkAlike) {
  EXPECT_EQ(Judge(kRule, Training(5ms)).verdict.kind, VerdictKind::kClear);
}

TEST(Straggler, IsUnknownForOneRankAndShortJobs) {
  Scenario alone;
  alone.stretches = {{1000, 50, 20}};
  alone.ranks = {{5s, 3000, 100ms}};
  EXPECT_EQ(Judge(kRule, MakeJob(alone)).verdict.sentence, "one rank has nobody to wait for");
  alone.ranks.clear();
  EXPECT_EQ(Judge(kRule, MakeJob(alone)).verdict.sentence, "no steps reported");
  const auto brief = Judge(kRule, Training(25ms, 50)).verdict;
  EXPECT_EQ(brief.kind, VerdictKind::kUnknown) << brief.sentence;
  Job few = Training(25ms, 90);
  EXPECT_EQ(Judge(kRule, few).verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(Judge(kRule, few, {{"min_steps", 50}}).verdict.kind, VerdictKind::kFinding);
}

TEST(Straggler, IsUnknownWhereWaitsAreHidden) {
  Job job = Training(0ms);
  job.facts.ranks[0].hides_communication = true;
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kUnknown);
}

// With DDP over gloo the thread that runs is the one that the others wait for, in backward.
TEST(Straggler, FindsARankThatWorksInForwardWhileTheOthersSleep) {
  LockStep made;
  made.change = [](int rank, std::int64_t, OwnWork& work) {
    if (rank == 1) work.Add(Phase::kForward, 50ms);
  };
  const auto outcome = Judge(kRule, MakeJob(made));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
  EXPECT_EQ(outcome.verdict.severity, Severity::kHigh);
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.rank, 1);
}

TEST(Straggler, IsClearOverGlooWhenNoThreadSleeps) {
  const auto verdict = Judge(kRule, MakeJob(LockStep())).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(verdict.sentence,
            "None of the 4 ranks works more than 10 % longer than the median rank.");
}

// A state of the version before begins with its findings; the ranks are compared anew.
TEST(Straggler, KeepsTheFindingsOfTheVersionBefore) {
  struct Before {
    FindingTrack findings;
    std::int64_t windows = 0;
    void Fields(StateWriter& state) {
      state("findings", findings);
      state("windows", windows);
    }
  } before;
  before.findings.Trigger({"node-0", "", 2}, FromMicros(1), FromMicros(2), "late", {});
  const Job job = Training(25ms);
  Replay replay(*FindRule(kRule), job, {});
  const auto fold = replay.NewFold();
  StateWriter writer;
  before.Fields(writer);
  ASSERT_TRUE(fold->Load(writer.bytes).ok());
  EXPECT_EQ(fold->Judge().sentence, "no steps reported");
  EXPECT_NE(fold->Save(), replay.NewFold()->Save());
}

TEST(Straggler, RefusesPartsOfSteps) {
  EXPECT_FALSE(CompleteParameters(*FindRule(kRule), {{"min_steps", 0.5}}).ok());
}

}  // namespace
}  // namespace stepscope::scenarios
