#include "server/evaluate/evaluation.h"

#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"
#include "tests/scenarios/stored_job.h"
#include "tests/support/postgres.h"

namespace stepscope::scenarios {
namespace {

constexpr const char* kGpuRule = "LowGPUUtilization";

Scenario Small(std::size_t nodes = 2) {
  Scenario scenario;
  scenario.nodes = nodes;
  scenario.stretches = {{300, 4, 95, 10, 2, 3}, {400, 90, 50}, {330, 5, 97, 10, 2, 3}};
  scenario.ranks = {{20s, 400, 300ms, 30, 10}, {21s, 60, 5s, 3, 1}};
  return scenario;
}
const Json kSmallParameters = {{"LowGPUUtilization", {{"window", 100}, {"patience", 150}}},
                               {"CPUBottleneck", {{"patience", "60s"}}}};

class Evaluation : public testing::Test {
 protected:
  Evaluation() : connection_(database_.Connect()) {}

  // All tasks of the job, whenever they are due.
  std::vector<RuleTask> ClaimAll(std::int64_t job_id) {
    const auto due = connection_->Query(
        "update rule_tasks set state = 'ready', attempt = 0, "
        "due_us = case when job_id = $1 then 0 else 9000000000000000 end",
        {job_id});
    EXPECT_TRUE(due.ok()) << due.error().message;
    return *ClaimRuleTasks(*connection_, "test", 100, 30s);
  }
  // One turn of a rule, at the given time of the service; written.
  Turn Evaluate(std::int64_t job_id, const std::string& rule, Time now) {
    const auto tasks = ClaimAll(job_id);
    const auto rows = ListRuleStates(*connection_, job_id);
    for (const auto& row : *rows) {
      for (const RuleTask& task : tasks) {
        const bool wanted =
            row.config.name == rule && task.rule_config_id == row.config.rule_config_id;
        if (!wanted) continue;
        auto turns = EvaluateRules(*connection_, {&task, 1}, now, options_);
        EXPECT_TRUE(turns.ok()) << turns.error().message;
        const auto& turn = turns->front();
        EXPECT_TRUE(turn.ok()) << turn.error().message;
        const Status written = FinishRuleTask(*connection_, turn->evaluated, "http://here");
        EXPECT_TRUE(written.ok()) << written.error().message;
        return *turn;
      }
    }
    ADD_FAILURE() << "no task for " << rule;
    return {};
  }
  // Until the rule's last turn.
  Turn Finish(std::int64_t job_id, const std::string& rule, Time now) {
    for (int turn = 0; turn < 100; ++turn) {
      const Turn done = Evaluate(job_id, rule, now);
      if (done.evaluated.last) return done;
      EXPECT_EQ(done.evaluated.next_in, 0s);
    }
    ADD_FAILURE() << "never ends";
    return {};
  }

  // One turn of all rules but one, together; written.
  void EvaluateAll(std::int64_t job_id, Time now, const std::string& but) {
    auto tasks = ClaimAll(job_id);
    const auto rows = ListRuleStates(*connection_, job_id);
    std::erase_if(tasks, [&](const RuleTask& task) {
      return std::ranges::any_of(*rows, [&](const RuleStateRow& row) {
        return row.config.name == but && row.config.rule_config_id == task.rule_config_id;
      });
    });
    if (tasks.empty()) return;
    const auto turns = EvaluateRules(*connection_, tasks, now, options_);
    ASSERT_TRUE(turns.ok()) << turns.error().message;
    std::vector<Evaluated> outcomes;
    for (const auto& turn : *turns) {
      if (turn.ok()) outcomes.push_back(turn->evaluated);
    }
    const auto lost = FinishRuleTasks(*connection_, outcomes, "");
    ASSERT_TRUE(lost.ok()) << lost.error().message;
    EXPECT_EQ(*lost, 0u);
  }
  RuleStateRow State(std::int64_t job_id, const std::string& rule) {
    const auto states = ListRuleStates(*connection_, job_id);
    return *std::ranges::find(*states, rule,
                              [](const RuleStateRow& row) { return row.config.name; });
  }
  void BreakState(std::int64_t job_id, const std::string& rule) {
    const auto broken = connection_->Query(
        "update rule_states set state = '{}' where job_id = $1 and rule_config_id = $2",
        {job_id, State(job_id, rule).config.rule_config_id});
    EXPECT_TRUE(broken.ok());
  }

  TestDatabase database_;
  std::unique_ptr<stepscope::Connection> connection_;
  EvaluationOptions options_;
};

// The stored verdict says what the rule's fold does; one that sums up adds what others say.
bool Says(const Json& stored, const Verdict& alone, const RuleType& rule) {
  if (!stored.contains("sentence")) return false;
  if (!rule.sums_up) {
    return stored["kind"] == ToText(alone.kind) && stored["sentence"] == alone.sentence &&
           stored["evidence"] == alone.evidence;
  }
  return stored["sentence"].get<std::string>().starts_with(alone.sentence) &&
         stored["evidence"]["budget"] == alone.evidence["budget"];
}

constexpr const char* kEndRules = "update rule_states set status = 'NoIssuesFound'";

Time After(double seconds) {
  return FromMicros(kOriginUs + static_cast<std::int64_t>(seconds * 1e6));
}

// Watching a job live, in any pieces, tells what replaying it tells.
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
  Evaluate(stored.job_id(), kGpuRule, After(200));
  const auto rows = connection_->Query(
      "select (watermark->>'scans')::bigint from rule_states s join rule_configs c using "
      "(rule_config_id) where c.name = 'LowGPUUtilization'");
  EXPECT_EQ(rows->Int(0, 0), 0);
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
  EXPECT_EQ(turn.evaluated.watermark["scans"], 3);
  // It comes back: what lies before the last scan is too late, the rest is judged.
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
  EXPECT_EQ(turn.evaluated.watermark["scans"], 3);
  EXPECT_EQ(turn.evaluated.detail.find("left out"), std::string::npos) << turn.evaluated.detail;
}

// A clock that stands in 1970 holds nobody up, and decades without ticks cost nothing.
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
  EXPECT_EQ(turn.rows, 2 * 1030u - 4 + 2);  // ticks but those that settle, and two first steps
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

// A turn that takes only some of the steps shows no tick from behind them.
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

TEST_F(Evaluation, AStateOfAnotherShapeIsAFaultOfTheRule) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job);
  ASSERT_TRUE(connection_->Execute("update rule_states set state = '{\"start\": 17}'").ok());
  const auto tasks = ClaimRuleTasks(*connection_, "test", 100, 30s);
  const auto turns = EvaluateRules(*connection_, *tasks, After(1), options_);
  ASSERT_TRUE(turns.ok());
  ASSERT_EQ(turns->size(), Catalog().size());
  for (const auto& turn : *turns) {
    ASSERT_FALSE(turn.ok());
    EXPECT_EQ(turn.error().code, Code::kInternal) << turn.error().message;
  }
}

// The rules of a job share what they read; each says what it would say alone, also when one of them
// lags behind the others or cannot go on.
TEST_F(Evaluation, RulesTogetherSayWhatEachSaysAlone) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job, kSmallParameters);
  for (double at = 20; at <= 540; at += 20) {
    stored.StoreUntil(After(at));
    for (std::size_t node = 0; node < 2; ++node) stored.Seen(node, After(at));
    if (at == 300) BreakState(stored.job_id(), "OverallSystemUsage");
    EvaluateAll(stored.job_id(), After(at), at < 200 ? kGpuRule : "");
  }
  stored.EndJob();
  for (int turn = 0; turn < 3; ++turn) EvaluateAll(stored.job_id(), After(9000), "");
  for (const RuleType& rule : Catalog()) {
    const std::string name(rule.name);
    const RuleStateRow row = State(stored.job_id(), name);
    const Outcome alone = Judge(name, job, kSmallParameters.value(name, Json::object()));
    const bool broken = name == "OverallSystemUsage";
    EXPECT_EQ(Says(row.verdict, alone.verdict, rule), !broken) << name;
  }
}

// The report fires with the first rule that does, in the same turn, and says which.
TEST_F(Evaluation, TheReportNamesTheRulesThatFired) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job);
  for (const double at : {5.0, 40.0}) {
    stored.StoreUntil(After(at));
    for (std::size_t node = 0; node < 2; ++node) stored.Seen(node, After(at));
    EvaluateAll(stored.job_id(), After(at), "");
    const RuleStateRow report = State(stored.job_id(), "ProfilerReport");
    EXPECT_EQ(report.status, at < 10 ? RuleStatus::kInProgress : RuleStatus::kIssuesFound);
  }
  const RuleStateRow row = State(stored.job_id(), "ProfilerReport");
  EXPECT_NE(
      row.verdict["sentence"].get<std::string>().find("rules found issues: DataloaderBottleneck."),
      std::string::npos)
      << row.verdict["sentence"];
  EXPECT_EQ(row.verdict["evidence"]["rules_fired"], Json::array({"DataloaderBottleneck"}));
}

// While another rule is not done, the report is not either.
TEST_F(Evaluation, TheReportEndsLast) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job, kSmallParameters);
  stored.StoreUntil(After(9000));
  stored.EndJob();
  for (int turn = 0; turn < 3; ++turn) EvaluateAll(stored.job_id(), After(9000), kGpuRule);
  EXPECT_EQ(State(stored.job_id(), "OverallSystemUsage").status, RuleStatus::kNoIssuesFound);
  const char* kLeft = "select count(*) from rule_tasks where state <> 'done'";
  EXPECT_EQ(connection_->Query(kLeft)->Int(0, 0), 2);
  for (int turn = 0; turn < 3; ++turn) EvaluateAll(stored.job_id(), After(9000), "");
  EXPECT_EQ(connection_->Query(kLeft)->Int(0, 0), 0);
  EXPECT_EQ(State(stored.job_id(), "ProfilerReport").status, RuleStatus::kIssuesFound);
}

// What is read of a job does not grow with the number of its rules.
TEST_F(Evaluation, RulesThatStandAtTheSamePlaceReadOnce) {
  const Job job = MakeJob(Small(1));
  StoredJob stored(*connection_, job);
  stored.StoreUntil(After(9000));
  JobReads reads(*connection_, stored.job_id(), {"cpu_util_percent", "gpu_util_percent"});
  const auto first = reads.ReadTicks(stored.node_id(0), 0, INT64_MAX - 1, 100);
  const auto again = reads.ReadTicks(stored.node_id(0), 0, INT64_MAX - 1, 100);
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(*first, *again);
  EXPECT_EQ((*first)->at_us.size(), 100u);
  EXPECT_EQ((*first)->series.size(), 5u);
  EXPECT_NE(*first, *reads.ReadTicks(stored.node_id(0), 0, INT64_MAX - 1, 50));
  EXPECT_EQ(*reads.ReadSteps(0, -1, 10), *reads.ReadSteps(0, -1, 10));
  EXPECT_EQ((*reads.ReadSteps(0, -1, 10))->size(), 10u);
}

}  // namespace
}  // namespace stepscope::scenarios
