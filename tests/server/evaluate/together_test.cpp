// Rules of a job that have their turn together.

#include "tests/server/evaluate/evaluation_fixture.h"

namespace stepscope::scenarios {
namespace {

using RulesTogether = Evaluation;

TEST_F(RulesTogether, AStateOfAnotherShapeIsJudgedAnew) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job);
  ASSERT_TRUE(connection_->Execute("update rule_states set state = '{\"start\": 17}'").ok());
  const auto tasks = ClaimRuleTasks(*connection_, "test", 100, 30s);
  const auto turns = EvaluateRules(*connection_, *tasks, test::FakeClock(After(1)), options_);
  ASSERT_TRUE(turns.ok());
  ASSERT_EQ(turns->size(), Catalog().size());
  for (const auto& turn : *turns) {
    ASSERT_TRUE(turn.ok()) << turn.error().message;
    EXPECT_TRUE(turn->evaluated.anew);
  }
}

// A clock on which time passes only while the fourth rule has its turn.
class SlowRuleClock : public Clock {
 public:
  Time Now() const override { return After(60); }
  SteadyTime Steady() const override { return SteadyTime(++asked_ < 8 ? 0s : 61s); }

 private:
  mutable int asked_ = 0;  // twice for each turn
};

TEST_F(RulesTogether, ATurnThatTakesTooLongIsAFaultOfItsRuleAlone) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job);
  stored.StoreUntil(After(60));
  const auto tasks = ClaimRuleTasks(*connection_, "test", 100, 30s);
  const auto turns = EvaluateRules(*connection_, *tasks, SlowRuleClock(), options_);
  ASSERT_TRUE(turns.ok());
  std::vector<std::string> errors;
  for (const auto& turn : *turns) {
    if (!turn.ok()) errors.push_back(turn.error().message);
  }
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find(" took 61 s for "), std::string::npos) << errors[0];
}

// The rules of a job share their reads; each reaches the verdict that it would reach alone, also
// when one of them lags behind the others or has to begin anew.
TEST_F(RulesTogether, RulesTogetherSayWhatEachSaysAlone) {
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
    EXPECT_TRUE(Says(row.verdict, alone.verdict, rule)) << name << ": " << Dump(row.verdict);
  }
}

// The report fires with the first rule that does, in the same turn, and says which.
TEST_F(RulesTogether, TheReportNamesTheRulesThatFired) {
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
  const Json fired = State(stored.job_id(), "DataloaderBottleneck").verdict;
  EXPECT_GT(fired["share"], 0);
  EXPECT_EQ(row.verdict["share"], fired["share"]);
  EXPECT_EQ(row.verdict["active"], fired["active"]);
}

// While another rule is not done, the report is not either.
TEST_F(RulesTogether, TheReportEndsLast) {
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

// The number of reads does not grow with the number of a job's rules.
TEST_F(RulesTogether, RulesThatStandAtTheSamePlaceReadOnce) {
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
