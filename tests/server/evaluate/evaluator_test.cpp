#include "server/evaluate/evaluator.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/wire/bytes.h"
#include "server/evaluate/rule_run.h"
#include "server/store/webhooks/webhooks.h"
#include "tests/scenarios/stored_job.h"
#include "tests/support/postgres.h"

namespace stepscope::scenarios {
namespace {

Scenario Waiting() {
  Scenario scenario;
  scenario.gpus = 0;
  scenario.stretches = {{120, 0, 50}};
  scenario.ranks = {{2s, 200, 200ms, 57.3, 0}};
  return scenario;
}

class EvaluatorRuns : public testing::Test {
 protected:
  EvaluatorRuns()
      : database_(postgres_.url(), 8), connection_(postgres_.Connect()), job_(MakeJob(Waiting())) {
    options_.public_url = "http://here";
    options_.idle = 5ms;
    options_.heartbeat = 20ms;
    options_.evaluation.slot = 10ms;
    options_.evaluation.settle = 0s;
  }

  std::unique_ptr<Evaluator> Start() {
    return std::make_unique<Evaluator>(database_, clock_, options_);
  }
  RuleStateRow State(std::int64_t job_id, const std::string& rule) {
    const auto states = ListRuleStates(*connection_, job_id);
    for (const RuleStateRow& state : *states) {
      if (state.config.name == rule) return state;
    }
    return {};
  }
  // Waits until the rule has the status; returns whether it came.
  bool Becomes(std::int64_t job_id, const std::string& rule, RuleStatus status) {
    return Comes([&] { return State(job_id, rule).status == status; });
  }
  template <typename F>
  bool Comes(F&& condition) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(5ms);
    }
    return true;
  }
  std::int64_t Count(const std::string& sql) { return connection_->Query(sql)->Int(0, 0); }

  TestDatabase postgres_;
  Database database_;
  std::unique_ptr<stepscope::Connection> connection_;
  SystemClock clock_;
  Job job_;
  EvaluatorOptions options_;
};

TEST_F(EvaluatorRuns, MarksARunningJobAndTellsAWebhook) {
  WebhookRow webhook;
  webhook.url = "https://example.com/hook";
  ASSERT_TRUE(CreateWebhook(*connection_, webhook).ok());
  StoredJob stored(*connection_, job_);
  const auto evaluator = Start();
  stored.StoreUntil(job_.origin + 30s);
  stored.Seen(0, clock_.Now());
  EXPECT_TRUE(Becomes(stored.job_id(), "DataloaderBottleneck", RuleStatus::kIssuesFound));
  EXPECT_EQ(Count("select count(*) from deliveries where event = 'rule.issues_found'"), 1);
  EXPECT_EQ(State(stored.job_id(), "LowGPUUtilization").status, RuleStatus::kInProgress);

  stored.StoreUntil(job_.origin + 1h);
  stored.EndJob();
  for (const char* rule : {"LowGPUUtilization", "CPUBottleneck", "OverallSystemUsage"}) {
    EXPECT_TRUE(Becomes(stored.job_id(), rule, RuleStatus::kNoIssuesFound)) << rule;
  }
  EXPECT_TRUE(
      Comes([&] { return Count("select count(*) from rule_tasks where state <> 'done'") == 0; }));
  EXPECT_EQ(State(stored.job_id(), "DataloaderBottleneck").status, RuleStatus::kIssuesFound);
  EXPECT_EQ(Count("select count(*) from deliveries where event = 'rule.issues_found'"), 1);
  EXPECT_GT(evaluator->figures().rows, 300u);
  EXPECT_EQ(evaluator->figures().failures, 0u);
}

TEST_F(EvaluatorRuns, SeveralEvaluatorsChangeEachStatusOnce) {
  const auto one = Start(), two = Start(), three = Start();
  std::vector<std::unique_ptr<StoredJob>> jobs;
  for (int i = 0; i < 5; ++i) {
    jobs.push_back(
        std::make_unique<StoredJob>(*connection_, job_, Json::object(), Format("job-{}", i)));
  }
  for (const int part : {10, 20, 30, 3600}) {
    for (const auto& job : jobs) job->StoreUntil(job_.origin + std::chrono::seconds(part));
  }
  for (const auto& job : jobs) job->EndJob();
  EXPECT_TRUE(
      Comes([&] { return Count("select count(*) from rule_tasks where state <> 'done'") == 0; }));
  // DataloaderBottleneck fires, and the report that sums it up.
  EXPECT_EQ(Count("select count(*) from rule_states where status = 'IssuesFound'"), 5 * 2);
  EXPECT_EQ(Count("select count(*) from rule_states where status = 'NoIssuesFound'"),
            std::ssize(Catalog()) * 5 - 5 * 2);
  EXPECT_EQ(
      Count("select count(*) from status_transitions where rule_config_id <> 0 and version > 0 "
            "and status <> 'InProgress'"),
      std::ssize(Catalog()) * 5);
  EXPECT_EQ(Count("select count(*) from findings"), 5);
}

TEST_F(EvaluatorRuns, APoisonedRuleEndsInErrorAndStopsNoOther) {
  StoredJob stored(*connection_, job_);
  Watermark watermark;
  watermark.starts_anew = kMostStartsAnew;
  std::string saved;
  PutText(saved, SaveFields(watermark));  // and no fold
  ASSERT_TRUE(connection_
                  ->Query("update rule_states s set saved = $1 from rule_configs c where "
                          "c.job_id = s.job_id and c.rule_config_id = s.rule_config_id and "
                          "c.rule = 'CPUBottleneck'",
                          {Parameter::Bytes(saved)})
                  .ok());
  ASSERT_TRUE(connection_
                  ->Execute("update rule_configs set rule = 'NoSuchRule' where rule = "
                            "'OverallSystemUsage'")
                  .ok());
  stored.StoreUntil(job_.origin + 1h);
  stored.EndJob();
  const auto evaluator = Start();
  EXPECT_TRUE(Becomes(stored.job_id(), "DataloaderBottleneck", RuleStatus::kIssuesFound));
  // Skips the waits between the attempts.
  const auto failed = [&](const char* rule) {
    EXPECT_TRUE(
        connection_->Execute("update rule_tasks set due_us = 0 where state = 'ready'").ok());
    return State(stored.job_id(), rule).status == RuleStatus::kError;
  };
  EXPECT_TRUE(Comes([&] { return failed("CPUBottleneck") && failed("OverallSystemUsage"); }));
  EXPECT_TRUE(Becomes(stored.job_id(), "LowGPUUtilization", RuleStatus::kNoIssuesFound));
  EXPECT_GE(evaluator->figures().failures, 10u);
  const auto transitions = ListTransitions(*connection_, stored.job_id());
  std::string details;
  for (const TransitionRow& row : *transitions) details += row.detail + "\n";
  EXPECT_NE(details.find("rule 'NoSuchRule' is not known here"), std::string::npos) << details;
  EXPECT_NE(details.find("CPUBottleneck: state: "), std::string::npos) << details;
}

TEST_F(EvaluatorRuns, ATaskThatEndedItsProgramsIsNotTriedAgain) {
  StoredJob stored(*connection_, job_);
  ASSERT_TRUE(connection_->Execute("update rule_tasks set attempt = 5").ok());
  const auto evaluator = Start();
  EXPECT_TRUE(Becomes(stored.job_id(), "DataloaderBottleneck", RuleStatus::kError));
}

TEST_F(EvaluatorRuns, GoesOnAfterTheDatabaseFailed) {
  StoredJob stored(*connection_, job_);
  const auto evaluator = Start();
  ASSERT_TRUE(Comes([&] { return evaluator->figures().evaluations > 4; }));
  for (int i = 0; i < 5; ++i) {
    postgres_.EndSessions();
    const auto before = evaluator->figures().evaluations;
    connection_ = postgres_.Connect();
    ASSERT_TRUE(Comes([&] { return evaluator->figures().evaluations > before + 4; }));
  }
  StoredJob later(*connection_, job_, Json::object(), "later");
  later.StoreUntil(job_.origin + 1h);
  later.EndJob();
  EXPECT_TRUE(Becomes(later.job_id(), "DataloaderBottleneck", RuleStatus::kIssuesFound));
  EXPECT_TRUE(Becomes(later.job_id(), "CPUBottleneck", RuleStatus::kNoIssuesFound));
  EXPECT_EQ(Count("select count(*) from rule_states where status = 'Error'"), 0);
}

TEST_F(EvaluatorRuns, GivesItsTasksBackWhenItEnds) {
  StoredJob stored(*connection_, job_);
  options_.evaluation.slot = 0s;  // always busy
  auto evaluator = Start();
  ASSERT_TRUE(Comes([&] { return evaluator->figures().evaluations > 10; }));
  evaluator.reset();
  EXPECT_EQ(Count("select count(*) from rule_tasks where state = 'running'"), 0);
  EXPECT_EQ(Count("select count(*) from rule_tasks where state = 'ready'"), std::ssize(Catalog()));
}

}  // namespace
}  // namespace stepscope::scenarios
