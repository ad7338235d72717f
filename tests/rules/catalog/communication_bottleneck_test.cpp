#include <gtest/gtest.h>

#include "rules/signals/phase_share.h"
#include "tests/rules/ranks/lock_step.h"
#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "CommunicationBottleneck";

// Two ranks with 200 steps of 100 ms.
Job Waiting(double percent) {
  Scenario scenario;
  scenario.stretches = {{10}};
  scenario.ranks = {{5s, 200, 100ms, 1, 1, percent}, {5s, 200, 100ms, 1, 1, percent / 2}};
  return MakeJob(scenario);
}

TEST(CommunicationBottleneck, NamesTheShareOfTime) {
  const auto outcome = Judge(kRule, Waiting(32));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.sentence,
            "The training process waited 32.0 % of the time (mean of 200 steps without the first, "
            "rank 0) for "
            "other ranks; the threshold is 15 %. 2 of 2 ranks fired.");
  EXPECT_EQ(outcome.verdict.severity, Severity::kHigh);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 2u);
}

TEST(CommunicationBottleneck, IsClearBelowTheThreshold) {
  EXPECT_EQ(Judge(kRule, Waiting(1)).verdict.severity, Severity::kNone);
  const auto moderate = Judge(kRule, Waiting(8)).verdict;
  EXPECT_EQ(moderate.kind, VerdictKind::kClear);
  EXPECT_EQ(moderate.severity, Severity::kLow);
}

TEST(CommunicationBottleneck, IsUnknownWithoutSteps) {
  Scenario none;
  none.stretches = {{10}};
  EXPECT_EQ(Judge(kRule, MakeJob(none)).verdict.sentence, "no steps reported");
}

// DDP sends in the backward pass: a small share of communication proves nothing, a large one does.
TEST(CommunicationBottleneck, IsUnknownWhereWaitsAreHidden) {
  Job quiet = Waiting(1), loud = Waiting(32);
  for (Job* job : {&quiet, &loud}) job->facts.ranks[1].hides_communication = true;
  const auto verdict = Judge(kRule, quiet).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_NE(verdict.sentence.find("needs operator traces (1.0 % of the time is seen)"),
            std::string::npos)
      << verdict.sentence;
  EXPECT_EQ(Judge(kRule, loud).verdict.kind, VerdictKind::kFinding);
}

// The network is not to blame when one rank is late.
TEST(CommunicationBottleneck, NamesTheLateRank) {
  LockStep made;
  made.waits = Phase::kCommunication;
  made.change = [](int rank, std::int64_t, OwnWork& work) {
    if (rank == 2) work.Sleep(Phase::kData, 50ms);
  };
  const auto verdict = Judge(kRule, MakeJob(made)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_TRUE(verdict.sentence.ends_with("They wait for rank 2, which is late."))
      << verdict.sentence;
  EXPECT_EQ(verdict.evidence["advice"],
            "See what makes rank 2 late first, mostly data: Straggler says more of it.");
}

TEST(CommunicationBottleneck, BlamesTheExchangeWhenAllAreAlike) {
  LockStep made;
  made.change = [](int, std::int64_t, OwnWork& work) { work.Sleep(Phase::kCommunication, 50ms); };
  const auto verdict = Judge(kRule, MakeJob(made)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(verdict.sentence.find("which is late"), std::string::npos) << verdict.sentence;
}

TEST(CommunicationBottleneck, LoadsAStateThatKnowsNoLateRank) {
  const Job job = Waiting(32);
  const auto params =
      Params::Read(kRule, FindRule(kRule)->params, Json::object(), job.facts.interval);
  const auto before =
      MakePhaseShare({Phase::kCommunication, "for other ranks", ""}, *params, job.facts);
  for (const RankSteps& rank : job.ranks) before->Observe({rank.rank, rank.node, rank.steps});
  const auto now = FindRule(kRule)->make(*params, job.facts);
  ASSERT_TRUE(now->Load(before->Save()).ok());
  EXPECT_EQ(now->Judge().sentence, before->Judge().sentence);
}

TEST(CommunicationBottleneck, RefusesAShareAboveAHundred) {
  const auto refused = CompleteParameters(*FindRule(kRule), {{"threshold", 101}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "CommunicationBottleneck: threshold is 101, but must be a number from 0 to 100 %");
}

}  // namespace
}  // namespace stepscope::scenarios
