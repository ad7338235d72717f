#include <gtest/gtest.h>

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
  EXPECT_NE(outcome.verdict.sentence.find(
                "Rank 2 on node node-0 worked 125 ms on a step, the other ranks 100 ms"),
            std::string::npos)
      << outcome.verdict.sentence;
  EXPECT_NE(outcome.verdict.sentence.find("mostly data (+25 ms of a step)"), std::string::npos)
      << outcome.verdict.sentence;
  EXPECT_EQ(outcome.verdict.severity, Severity::kMedium);
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  EXPECT_EQ(outcome.verdict.share, 1);
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.rank, 2);
  EXPECT_EQ(outcome.findings[0].from, FromMicros(kOriginUs) + 5s);  // in the middle of a minute
}

// Two slow minutes of three are most of them, though the third is not slow.
TEST(Straggler, FiresWithAFindingAfterItWasSlow) {
  Job job = Training(25ms);
  for (RankSteps& rank : job.ranks) {
    for (Step& step : rank.steps) {
      if (step.start >= job.origin + 105s) step.phases = {};
    }
  }
  const auto outcome = Judge(kRule, job);
  EXPECT_TRUE(outcome.verdict.fired) << outcome.verdict.sentence;
  EXPECT_FALSE(outcome.verdict.active);
  EXPECT_EQ(outcome.findings.size(), 1u);
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
  const auto brief = Judge(kRule, Training(25ms, 300)).verdict;
  EXPECT_EQ(brief.kind, VerdictKind::kUnknown) << brief.sentence;
}

TEST(Straggler, IsUnknownWhereWaitsAreHidden) {
  Job job = Training(0ms);
  job.facts.ranks[0].hides_communication = true;
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kUnknown);
}

TEST(Straggler, RefusesPartsOfSteps) {
  EXPECT_FALSE(CompleteParameters(*FindRule(kRule), {{"min_steps", 0.5}}).ok());
}

}  // namespace
}  // namespace stepscope::scenarios
