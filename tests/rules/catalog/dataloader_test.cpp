#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "Dataloader";

// One rank on a node of 8 cores.
Job Loading(std::optional<std::int64_t> workers, std::size_t steps = 50, double waits = 40) {
  Scenario scenario;
  scenario.cores = 8;
  scenario.stretches = {{10}};
  scenario.ranks = {{5s, steps, 100ms, waits, 0}};
  Job job = MakeJob(scenario);
  job.facts.ranks[0].loader_workers = workers;
  job.facts.ranks[0].pin_memory = false;
  return job;
}

TEST(Dataloader, FiresForTooFewWorkers) {
  const auto verdict = Judge(kRule, Loading(2)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(verdict.sentence,
            "Node node-0 has 2 loader workers for 8 cores (25 %); the range is 70 to 200 %. 40.0 % "
            "of the step time after the first step was waited for batches.");
  EXPECT_EQ(verdict.severity, Severity::kHigh);
  EXPECT_TRUE(verdict.fired.has_value());
  const auto advice = verdict.evidence["advice"].get<std::string>();
  EXPECT_NE(advice.find("more loader workers"), std::string::npos) << advice;
  EXPECT_NE(advice.find("pin_memory"), std::string::npos) << advice;
}

// Each of the two nodes outside of the range has a finding.
TEST(Dataloader, GivesAFindingForEachNode) {
  Scenario scenario;
  scenario.cores = 8;
  scenario.nodes = 3;
  scenario.stretches = {{400}};
  scenario.ranks = {{5s, 50, 100ms, 40, 0}, {7s, 90, 1s, 40, 0}, {9s, 50, 100ms, 40, 0}};
  Job job = MakeJob(scenario);
  const std::int64_t workers[] = {2, 8, 20};
  for (RankFacts& rank : job.facts.ranks) {
    rank.loader_workers = workers[static_cast<std::size_t>(rank.rank)];
  }
  for (const std::optional<std::uint64_t> slicing : {std::optional<std::uint64_t>(), {3}}) {
    const auto findings = Judge(kRule, job, {}, slicing).findings;
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].subject, (Subject{"node-0", ""}));
    EXPECT_EQ(findings[0].from, EndedAt(job.ranks[0].steps[10]));
    EXPECT_EQ(findings[0].to, EndedAt(job.ranks[0].steps.back()));
    EXPECT_EQ(findings[1].subject, (Subject{"node-2", ""}));
    EXPECT_NE(findings[1].sentence.find("20 loader workers for 8 cores (250 %)"), std::string::npos)
        << findings[1].sentence;
  }
}

TEST(Dataloader, CountsAProcessThatLoadsItselfAsOneWorker) {
  const auto verdict = Judge(kRule, Loading(0)).verdict;
  EXPECT_EQ(verdict.evidence["nodes"][0]["workers"], 1);
  EXPECT_NE(verdict.evidence["advice"].get<std::string>().find("prefetch_factor"),
            std::string::npos);
}

TEST(Dataloader, FiresForTooManyWorkers) {
  EXPECT_EQ(Judge(kRule, Loading(17)).verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(Judge(kRule, Loading(16)).verdict.kind, VerdictKind::kClear);
}

// Nothing is worth a change: more workers would not make the job faster.
TEST(Dataloader, IsClearForAJobThatHardlyWaits) {
  const auto outcome = Judge(kRule, Loading(1, 200, 1));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(outcome.verdict.severity, Severity::kLow);
  EXPECT_TRUE(outcome.findings.empty());
  EXPECT_NE(outcome.verdict.sentence.find("hardly waits: nothing to do."), std::string::npos)
      << outcome.verdict.sentence;
  const auto strict = Judge(kRule, Loading(1, 200, 1), {{"strict", 1}});
  EXPECT_EQ(strict.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(strict.findings.size(), 1u);
}

// The first steps wait, all of them together hardly do.
TEST(Dataloader, JudgesByAllStepsAndNotByTheFirst) {
  Job job = Loading(1, 400, 0);
  for (std::size_t i = 0; i < 30; ++i) {
    Step& step = job.ranks[0].steps[i];
    step.phases[static_cast<std::size_t>(Phase::kData)] = step.wall * 4 / 10;
  }
  const auto outcome = Judge(kRule, job);
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kClear) << outcome.verdict.sentence;
  EXPECT_NE(outcome.verdict.sentence.find(" 2.9 % of the step time"), std::string::npos)
      << outcome.verdict.sentence;
  job.ranks[0].steps.resize(60);
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kFinding);
}

// The first batch waits for the workers to start.
TEST(Dataloader, DoesNotJudgeByTheFirstBatch) {
  Job job = Loading(1, 200, 1);
  for (Duration* each : {&job.ranks[0].steps[0].wall, &job.ranks[0].steps[0].phases[0]})
    *each += 9s;
  const auto verdict = Judge(kRule, job).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear);
  EXPECT_NEAR(verdict.evidence["data_wait_percent"].get<double>(), 1, 0.1)
      << "no part of the share";
}

TEST(Dataloader, CountsTheCoresThatTheJobMayUse) {
  Job job = Loading(1);
  job.facts.nodes[0].cores_allowed = 1;
  const auto verdict = Judge(kRule, job).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear);
  EXPECT_NE(verdict.sentence.find("1 loader worker for 1 core (100 %)"), std::string::npos)
      << verdict.sentence;
}

TEST(Dataloader, IsClearWithinTheRange) {
  EXPECT_TRUE(Judge(kRule, Loading(6)).findings.empty());
  const auto verdict = Judge(kRule, Loading(6)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear);
  EXPECT_FALSE(verdict.fired.has_value());
}

TEST(Dataloader, IsUnknownWithoutSettingsOrLoads) {
  EXPECT_EQ(Judge(kRule, Loading(std::nullopt)).verdict.sentence,
            "no data loader told its settings");
  EXPECT_EQ(Judge(kRule, Loading(2, 10)).verdict.sentence, "10 of 11 loads seen");
  EXPECT_EQ(Judge(kRule, Loading(2, 0)).verdict.kind, VerdictKind::kUnknown);
}

TEST(Dataloader, RefusesANegativeShare) {
  EXPECT_FALSE(CompleteParameters(*FindRule(kRule), {{"min_threshold", -1}}).ok());
}

}  // namespace
}  // namespace stepscope::scenarios
