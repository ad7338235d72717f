// Rules that are judged anew from what is stored, because their saved state does not load.

#include "server/evaluate/rule_run.h"
#include "server/store/webhooks/webhooks.h"
#include "tests/server/evaluate/evaluation_fixture.h"

namespace stepscope::scenarios {
namespace {

class JudgedAnew : public Evaluation {
 protected:
  JudgedAnew() : job_(MakeJob(Small())), stored_(*connection_, job_, kSmallParameters) {
    WebhookRow webhook;
    webhook.url = "https://example.com/hook";
    EXPECT_TRUE(CreateWebhook(*connection_, webhook).ok());
  }

  void StoreUntil(double seconds) {
    stored_.StoreUntil(After(seconds));
    for (std::size_t node = 0; node < 2; ++node) stored_.Seen(node, After(seconds));
  }
  std::int64_t Count(const std::string& sql) { return connection_->Query(sql)->Int(0, 0); }
  std::vector<std::string> Findings() {
    std::vector<std::string> lines;
    const auto page = ListFindings(*connection_, stored_.job_id(), kGpuRule, "", 100);
    for (const FindingRow& row : page->items) {
      lines.push_back(Format("{} {} {}", row.finding, row.from_us, row.sentence));
    }
    return lines;
  }

  Job job_;
  StoredJob stored_;
};

TEST_F(JudgedAnew, AStateOfAnotherShapeLosesNothing) {
  StoreUntil(500);
  const Turn before = Evaluate(stored_.job_id(), kGpuRule, After(500));
  EXPECT_FALSE(before.evaluated.anew);
  const auto findings = Findings();
  ASSERT_FALSE(findings.empty());
  for (const char* shape : {"saved = '\\x01'", "saved = '\\xff'", "saved = saved || '\\x00'",
                            "saved = substr(saved, 1, length(saved) - 1)", "state = '{}'"}) {
    ASSERT_TRUE(connection_
                    ->Query(Format("update rule_states set {} where rule_config_id = $1", shape),
                            {before.evaluated.task.rule_config_id})
                    .ok());
    // Findings of a fold that numbered them in another way.
    ASSERT_TRUE(
        connection_->Execute("update findings set finding = finding + 1000, sentence = 'old'")
            .ok());
    const Turn anew = Evaluate(stored_.job_id(), kGpuRule, After(500));
    EXPECT_TRUE(anew.evaluated.anew) << shape;
    EXPECT_EQ(anew.evaluated.verdict, before.evaluated.verdict) << shape;
    EXPECT_EQ(Findings(), findings) << shape;
    const Turn next = Evaluate(stored_.job_id(), kGpuRule, After(500));
    EXPECT_FALSE(next.evaluated.anew) << shape;
    EXPECT_EQ(WatermarkOf(next.evaluated.saved)->starts_anew, 0);
  }
  EXPECT_EQ(Count("select count(*) from status_transitions where status = 'IssuesFound'"), 1);
  EXPECT_EQ(Count("select count(*) from deliveries"), 1);
}

// While a rule catches up its verdict is older than before; no alert is sent for that.
TEST_F(JudgedAnew, TellsNothingTwiceInManyTurns) {
  StoreUntil(9000);
  stored_.EndJob();
  Finish(stored_.job_id(), kGpuRule, After(9000));
  EXPECT_EQ(Count("select count(*) from deliveries where event = 'rule.issues_found'"), 1);
  const auto told = Count("select count(*) from deliveries");
  BreakState(stored_.job_id(), kGpuRule);
  options_.feed.cells = 1;
  const Turn first = Evaluate(stored_.job_id(), kGpuRule, After(9000));
  EXPECT_TRUE(first.evaluated.behind);
  EXPECT_EQ(Count("select count(*) from rule_states where told is not null"), 1);
  Finish(stored_.job_id(), kGpuRule, After(9000));
  EXPECT_EQ(Count("select count(*) from rule_states where told is not null"), 0);
  EXPECT_EQ(Count("select count(*) from deliveries"), told);
}

// Two versions of the program take turns, or a fold does not load its own state.
TEST_F(JudgedAnew, ComesToAnEnd) {
  StoreUntil(500);
  Evaluate(stored_.job_id(), kGpuRule, After(500));
  for (int i = 0; i < kMostStartsAnew; ++i) {
    BreakState(stored_.job_id(), kGpuRule);
    EXPECT_TRUE(Evaluate(stored_.job_id(), kGpuRule, After(500)).evaluated.anew);
  }
  BreakState(stored_.job_id(), kGpuRule);
  const std::int64_t id = State(stored_.job_id(), kGpuRule).config.rule_config_id;
  auto tasks = ClaimAll(stored_.job_id());
  std::erase_if(tasks, [&](const RuleTask& task) { return task.rule_config_id != id; });
  const auto turns = EvaluateRules(*connection_, tasks, test::FakeClock(After(500)), options_);
  ASSERT_TRUE(turns.ok() && turns->size() == 1);
  ASSERT_FALSE(turns->front().ok());
  EXPECT_NE(turns->front().error().message.find("it was judged anew 3 times"), std::string::npos)
      << turns->front().error().message;
}

// A rolling upgrade: the program before this one saves in its own columns, and raises the revision.
TEST_F(JudgedAnew, AsOftenAsAnOlderVersionSaved) {
  StoreUntil(500);
  const Turn before = Evaluate(stored_.job_id(), kGpuRule, After(500));
  for (int i = 0; i < 2 * kMostStartsAnew; ++i) {
    ASSERT_TRUE(
        connection_->Execute("update rule_states set state = '{}', revision = revision + 1").ok());
    const Turn anew = Evaluate(stored_.job_id(), kGpuRule, After(500));
    EXPECT_TRUE(anew.evaluated.anew);
    EXPECT_EQ(anew.evaluated.verdict, before.evaluated.verdict);
    EXPECT_FALSE(Evaluate(stored_.job_id(), kGpuRule, After(500)).evaluated.anew);
  }
  EXPECT_EQ(Count("select count(*) from deliveries"), 1);
}

// The older program does not clear `saved` when it begins a rule anew for other parameters.
TEST_F(JudgedAnew, FromTheBeginWhereAnOlderVersionChangedParameters) {
  StoreUntil(500);
  Evaluate(stored_.job_id(), kGpuRule, After(500));
  ASSERT_TRUE(
      connection_->Execute("update rule_states set state = null, revision = revision + 1").ok());
  const Turn turn = Evaluate(stored_.job_id(), kGpuRule, After(500));
  EXPECT_FALSE(turn.evaluated.anew);
  EXPECT_GT(turn.rows, 900u);
}

TEST_F(JudgedAnew, SaysWhatWasRemovedBefore) {
  StoreUntil(500);
  const Turn before = Evaluate(stored_.job_id(), kGpuRule, After(500));
  ASSERT_TRUE(
      connection_->Query("update jobs set samples_from_us = $1", {ToMicros(After(200))}).ok());
  ASSERT_TRUE(
      connection_->Query("delete from frames where to_us < $1", {ToMicros(After(200))}).ok());
  // A rule that had seen the start continues.
  EXPECT_EQ(Evaluate(stored_.job_id(), kGpuRule, After(500)).evaluated.verdict,
            before.evaluated.verdict);
  for (const std::string rule : {kGpuRule, "MaxInitializationTime"}) {
    if (rule != kGpuRule) Evaluate(stored_.job_id(), rule, After(500));
    BreakState(stored_.job_id(), rule);
    for (int turn = 0; turn < 2; ++turn) {  // also when its state was loaded
      const Json verdict = Evaluate(stored_.job_id(), rule, After(500)).evaluated.verdict;
      EXPECT_TRUE(verdict["sentence"].get<std::string>().ends_with(
          "What was measured before " + ToRfc3339(After(200)) + " was removed and is not judged."))
          << Dump(verdict);
      EXPECT_EQ(verdict["evidence"]["removed_until"], ToRfc3339(After(200)));
    }
  }
  // The length of the initialisation is not known any more.
  EXPECT_EQ(State(stored_.job_id(), "MaxInitializationTime").verdict["kind"], "unknown");
}

}  // namespace
}  // namespace stepscope::scenarios
