#include "server/evaluate/rule_run.h"
#include "tests/server/evaluate/evaluation_fixture.h"

namespace stepscope::scenarios {
namespace {

// Judging a job live, in any pieces, gives the verdict of a replay.
TEST_F(Evaluation, LivePiecesTellWhatTheWholeJobTells) {
  const Job job = MakeJob(Small());
  for (const RuleType& rule : Catalog()) {
    const std::string name(rule.name);
    const Json parameters = kSmallParameters.value(name, Json::object());
    const Outcome whole = Judge(name, job, parameters);
    for (int seed = 1; seed <= 2; ++seed) {
      StoredJob stored(*connection_, job, kSmallParameters, Format("{}-{}", name, seed));
      std::mt19937 random(static_cast<unsigned>(seed));
      for (double at = 1; at < 520; at += 1 + static_cast<double>(random() % 60)) {
        for (std::size_t node = 0; node < 2; ++node) {
          stored.Seen(node, After(at));
          for (std::size_t rank = 0; rank < 2; ++rank) stored.StoreSteps(rank, After(at + 2));
          stored.StoreTicks(node, After(at - static_cast<double>(random() % 3)));
        }
        Evaluate(stored.job_id(), name, After(at));
      }
      stored.StoreUntil(After(9000));
      stored.EndJob();
      EXPECT_TRUE(!rule.sums_up || connection_->Execute(kEndRules).ok());
      const Turn last = Finish(stored.job_id(), name, After(9000));
      const Json& verdict = last.evaluated.verdict;
      EXPECT_TRUE(Says(verdict, whole.verdict, rule)) << name << ": " << Dump(verdict);
      const auto findings = ListFindings(*connection_, stored.job_id(), "", "", 100);
      EXPECT_EQ(findings->items.size(), whole.findings.size()) << name;
    }
  }
}

TEST_F(Evaluation, FiresWhileTheJobRuns) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job);
  stored.StoreUntil(After(40));
  for (std::size_t node = 0; node < 2; ++node) stored.Seen(node, After(40));
  const Turn turn = Evaluate(stored.job_id(), "DataloaderBottleneck", After(40));
  EXPECT_EQ(turn.evaluated.status, RuleStatus::kIssuesFound);
  EXPECT_NE(turn.evaluated.detail.find("The training process waited"), std::string::npos);
  EXPECT_FALSE(turn.evaluated.last);
  EXPECT_LT(turn.evaluated.at_us, ToMicros(After(40)));
  EXPECT_EQ(turn.evaluated.next_in, 2s);
}

TEST_F(Evaluation, SaysAtTheEndWhatItCouldNotJudge) {
  Scenario scenario = Small();
  scenario.gpus = 0;
  const Job job = MakeJob(scenario);
  StoredJob stored(*connection_, job);
  stored.StoreUntil(After(9000));
  stored.EndJob();
  const Turn last = Finish(stored.job_id(), kGpuRule, After(9000));
  EXPECT_EQ(last.evaluated.status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(last.evaluated.detail, "not judged: no GPU on any node");
  EXPECT_EQ(last.evaluated.verdict["kind"], "unknown");
}

TEST_F(Evaluation, AJobWithoutAnyDataEndsToo) {
  const Job job = MakeJob({});
  StoredJob stored(*connection_, job);
  stored.EndJob(JobStatus::kStopped);
  for (const RuleType& rule : Catalog()) {
    const Turn last = Finish(stored.job_id(), std::string(rule.name), After(9000));
    EXPECT_EQ(last.evaluated.status, RuleStatus::kStopped) << rule.name;
    EXPECT_TRUE(last.evaluated.detail.starts_with("not judged: ")) << last.evaluated.detail;
  }
}

TEST_F(Evaluation, WaitsForTheSlowestLiveNode) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job, kSmallParameters);
  stored.StoreTicks(0, After(200));
  stored.StoreTicks(1, After(30));
  for (std::size_t node = 0; node < 2; ++node) stored.Seen(node, After(200));
  const Turn turn = Evaluate(stored.job_id(), kGpuRule, After(200));
  EXPECT_EQ(WatermarkOf(turn.evaluated.saved)->scans, 0);
}

TEST_F(Evaluation, LeavesOutASilentNodeAndNamesIt) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job, kSmallParameters);
  stored.StoreTicks(0, After(200));
  stored.StoreTicks(1, After(30));
  stored.Seen(0, After(200));
  stored.Seen(1, After(30));
  Turn turn = Evaluate(stored.job_id(), kGpuRule, After(200));
  EXPECT_NE(turn.evaluated.detail.find("Node node-1 is left out: silent since"), std::string::npos)
      << turn.evaluated.detail;
  EXPECT_EQ(WatermarkOf(turn.evaluated.saved)->scans, 3);
  // The node comes back: its ticks from before the last scan are too late, later ones are judged.
  stored.StoreTicks(1, After(200));
  stored.Seen(1, After(200));
  turn = Evaluate(stored.job_id(), kGpuRule, After(200));
  EXPECT_EQ(turn.evaluated.detail.find("left out"), std::string::npos) << turn.evaluated.detail;
  EXPECT_GT(turn.rows, 20u);
  EXPECT_LT(turn.rows, 60u);
}

TEST_F(Evaluation, AnEndedNodeHoldsNobodyUp) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job, kSmallParameters);
  stored.StoreTicks(0, After(200));
  stored.StoreTicks(1, After(30));
  for (std::size_t node = 0; node < 2; ++node) stored.Seen(node, After(200));
  stored.EndNode(1);
  const Turn turn = Evaluate(stored.job_id(), kGpuRule, After(200));
  EXPECT_EQ(WatermarkOf(turn.evaluated.saved)->scans, 3);
  EXPECT_EQ(turn.evaluated.detail.find("left out"), std::string::npos) << turn.evaluated.detail;
}

// A node whose clock is in 1970 delays no other, and decades without ticks cost nothing.
TEST_F(Evaluation, SurvivesClocksThatAreDecadesOff) {
  Job job = MakeJob(Small());
  for (std::size_t i = 0; i < job.nodes[1].at_us.size(); ++i) {
    job.nodes[1].at_us[i] -= kOriginUs;
  }
  StoredJob stored(*connection_, job, kSmallParameters);
  stored.StoreUntil(After(9000));
  stored.Seen(0, After(300));
  stored.Seen(1, After(300), kOriginUs);
  const Turn turn = Evaluate(stored.job_id(), kGpuRule, After(300));
  EXPECT_NE(turn.evaluated.detail.find("Node node-1 is left out: its clock is off by"),
            std::string::npos)
      << turn.evaluated.detail;
  EXPECT_EQ(turn.rows, 2 * 1030u - 4 + 460);  // ticks but those that settle, and all steps
}

TEST_F(Evaluation, DoesLargeWorkInManyTurns) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job, kSmallParameters);
  stored.StoreUntil(After(9000));
  stored.EndJob();
  options_.feed.cells = 1;
  options_.feed.steps = 1;
  const Json parameters = kSmallParameters[kGpuRule];
  const Turn first = Evaluate(stored.job_id(), kGpuRule, After(9000));
  EXPECT_LT(first.rows, 1500u);
  const Turn last = Finish(stored.job_id(), kGpuRule, After(9000));
  EXPECT_EQ(last.evaluated.verdict["sentence"], Judge(kGpuRule, job, parameters).verdict.sentence);
}

// A turn that takes only some of the steps shows no tick from after them.
TEST_F(Evaluation, ManyTurnsTellWhatOneTells) {
  const Job job = MakeJob(Small());
  options_.feed.steps = 1;
  for (const RuleType& rule : Catalog()) {
    const std::string name(rule.name);
    StoredJob stored(*connection_, job, kSmallParameters, name);
    stored.StoreUntil(After(9000));
    stored.EndJob();
    EXPECT_TRUE(!rule.sums_up || connection_->Execute(kEndRules).ok());
    const Json& verdict = Finish(stored.job_id(), name, After(9000)).evaluated.verdict;
    const Json parameters = kSmallParameters.value(name, Json::object());
    EXPECT_TRUE(Says(verdict, Judge(name, job, parameters).verdict, rule))
        << name << ": " << Dump(verdict);
  }
}

}  // namespace
}  // namespace stepscope::scenarios
