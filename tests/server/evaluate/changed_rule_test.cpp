// A rule whose parameters change while its job runs.

#include "server/store/rules/rule_changes.h"
#include "server/store/webhooks/webhooks.h"
#include "tests/server/evaluate/evaluation_fixture.h"

namespace stepscope::scenarios {
namespace {

// Without steps, so that the rule judges until the end.
Scenario StepsUntold() {
  Scenario scenario = Small();
  scenario.ranks.clear();
  return scenario;
}

class ChangedRule : public Evaluation {
 protected:
  ChangedRule() : job_(MakeJob(StepsUntold())), stored_(*connection_, job_, kSmallParameters) {
    WebhookRow webhook;
    webhook.url = "https://example.com/hook";
    EXPECT_TRUE(CreateWebhook(*connection_, webhook).ok());
    stored_.StoreUntil(After(500));
    for (std::size_t node = 0; node < 2; ++node) stored_.Seen(node, After(500));
  }

  void Change(const Json& parameters) {
    auto transaction = Transaction::Begin(*connection_);
    const auto stand = LockRules(*connection_, stored_.job_id());
    ASSERT_TRUE(stand.ok());
    RuleChanges changes;
    changes.put.push_back(
        {kGpuRule, kGpuRule, *CompleteParameters(*FindRule(kGpuRule), parameters)});
    const Status changed = ChangeRules(*connection_, stored_.job_id(), *stand, changes,
                                       ToMicros(After(500)), "http://here");
    ASSERT_TRUE(changed.ok()) << changed.error().message;
    ASSERT_TRUE(transaction->Commit().ok());
  }
  RuleStatus StatusNow() { return State(stored_.job_id(), kGpuRule).status; }
  std::string Events() {
    const auto rows = connection_->Query(
        "select coalesce(string_agg(event, ' ' order by delivery_id), '') from deliveries");
    return rows->Text(0, 0);
  }

  Job job_;
  StoredJob stored_;
};

TEST_F(ChangedRule, SaysWhatItWouldHaveSaidFromTheStart) {
  Evaluate(stored_.job_id(), kGpuRule, After(400));
  ASSERT_EQ(StatusNow(), RuleStatus::kIssuesFound);
  const Json other = {{"window", 40}, {"patience", 20}, {"threshold_p95", 50}};
  Change(other);
  EXPECT_EQ(StatusNow(), RuleStatus::kInProgress);
  stored_.StoreUntil(After(9000));
  stored_.EndJob();
  const Turn last = Finish(stored_.job_id(), kGpuRule, After(9000));
  const Outcome whole = Judge(kGpuRule, job_, other);
  EXPECT_TRUE(Says(last.evaluated.verdict, whole.verdict, *FindRule(kGpuRule)));
  EXPECT_EQ(ListFindings(*connection_, stored_.job_id(), kGpuRule, "", 100)->total,
            std::ssize(whole.findings));
  EXPECT_EQ(Events(), "rule.issues_found job.completed");
}

TEST_F(ChangedRule, AnEvaluationUnderWayIsThrownAway) {
  const std::int64_t id = State(stored_.job_id(), kGpuRule).config.rule_config_id;
  auto tasks = ClaimAll(stored_.job_id());
  std::erase_if(tasks, [&](const RuleTask& task) { return task.rule_config_id != id; });
  const auto turns = EvaluateRules(*connection_, tasks, test::FakeClock(After(500)), options_);
  ASSERT_TRUE(turns.ok() && turns->front().ok());
  Change({{"threshold_p95", 1}, {"threshold_p5", 0}});
  const auto written = FinishRuleTask(*connection_, turns->front()->evaluated, "http://here");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, Code::kConflict);
  EXPECT_EQ(StatusNow(), RuleStatus::kInProgress);
  EXPECT_EQ(Events(), "");
}

// The rule had found issues and was active; with other parameters there are none.
TEST_F(ChangedRule, TellsThatItNoLongerFires) {
  Evaluate(stored_.job_id(), kGpuRule, After(150));
  ASSERT_EQ(StatusNow(), RuleStatus::kIssuesFound);
  ASSERT_EQ(State(stored_.job_id(), kGpuRule).verdict["active"], true);
  Change({{"threshold_p95", 1}, {"threshold_p5", 0}, {"window", 100}, {"patience", 150}});
  const Turn turn = Evaluate(stored_.job_id(), kGpuRule, After(150));
  EXPECT_EQ(turn.evaluated.verdict["kind"], "clear") << Dump(turn.evaluated.verdict);
  EXPECT_EQ(StatusNow(), RuleStatus::kInProgress);
  EXPECT_EQ(Events(), "rule.issues_found rule.cleared");
  EXPECT_EQ(ListFindings(*connection_, stored_.job_id(), kGpuRule, "", 100)->total, 0);
  // The rule fires once more: an alert is sent again.
  Change({{"window", 100}, {"patience", 150}});
  Evaluate(stored_.job_id(), kGpuRule, After(150));
  EXPECT_EQ(Events(), "rule.issues_found rule.cleared rule.issues_found");
}

}  // namespace
}  // namespace stepscope::scenarios
