#include "server/store/rules/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"
#include "server/store/rules/rule_outcome.h"
#include "server/store/rules/rule_tasks.h"
#include "server/store/webhooks/deliveries.h"
#include "server/store/webhooks/webhooks.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

std::vector<RuleTask> Claim(Connection& connection, const std::string& worker, int most = 10) {
  auto tasks = ClaimRuleTasks(connection, worker, most, 30s);
  EXPECT_TRUE(tasks) << tasks.error().message;
  return std::move(*tasks);
}

class RuleTasks : public ::testing::Test {
 protected:
  RuleTasks() : connection_(database_.Connect()) {
    NewJob job;
    job.name = "train";
    for (const char* name : {"a", "b", "c", "d"}) job.rules.push_back({name, "Rule", {{"p", 1}}});
    job_id_ = CreateJob(*connection_, job, 1'000)->job.job_id;
    WebhookRow webhook;
    webhook.url = "https://example.com";
    webhook_id_ = CreateWebhook(*connection_, webhook)->webhook_id;
  }

  RuleTask ClaimOne(const std::string& worker = "w", Duration lease = 30s) {
    const auto tasks = ClaimRuleTasks(*connection_, worker, 1, lease);
    EXPECT_TRUE(tasks && tasks->size() == 1);
    return tasks->at(0);
  }
  Evaluated Outcome(const RuleTask& task, RuleStatus status, bool active) {
    Evaluated outcome;
    outcome.task = task;
    outcome.revision = LoadRuleState(*connection_, task.job_id, task.rule_config_id)->revision;
    outcome.saved = std::string("se\0en", 5);
    outcome.verdict = {{"kind", "finding"}, {"active", active}, {"evidence", {1, 2}}};
    outcome.status = status;
    outcome.detail = "41 % of the time";
    outcome.at_us = 9'000;
    outcome.findings = {
        {task.rule_config_id, 1, 10, 20, "", "n1", "gpu0", "low", -1, {{"p95", 3}}}};
    return outcome;
  }
  void Expire(const RuleTask& task) {
    ASSERT_TRUE(connection_->Query("update rule_tasks set lease_until_us = 1 where task_id = $1",
                                   {task.task_id}));
  }
  void MakeDue() { ASSERT_TRUE(connection_->Execute("update rule_tasks set due_us = 1")); }
  std::vector<std::string> Events() {
    std::vector<std::string> events;
    const auto page = ListDeliveries(*connection_, webhook_id_, "", "", 100);
    for (const auto& row : page->items) events.insert(events.begin(), row.event);
    return events;
  }
  void ExpectState(const RuleTask& task, std::int64_t revision, RuleStatus status) {
    const auto state = LoadRuleState(*connection_, task.job_id, task.rule_config_id);
    EXPECT_EQ(state->revision, revision);
    EXPECT_EQ(state->status, status);
  }
  void ExpectUntouched(const RuleTask& task) {
    ExpectState(task, 0, RuleStatus::kInProgress);
    EXPECT_EQ(ListFindings(*connection_, job_id_, "", "", 10)->total, 0);
    EXPECT_TRUE(Events().empty());
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
  std::int64_t job_id_ = 0, webhook_id_ = 0;
};

TEST_F(RuleTasks, AreClaimedByOneWorkerEach) {
  std::vector<std::int64_t> claimed[2];
  std::vector<std::jthread> workers;
  for (auto& mine : claimed) {
    workers.emplace_back([&mine, connection = database_.Connect()] {
      for (int i = 0; i < 8; ++i) {
        for (const RuleTask& task : Claim(*connection, "w", 1)) {
          mine.push_back(task.task_id);
        }
      }
    });
  }
  workers.clear();
  std::set<std::int64_t> all(claimed[0].begin(), claimed[0].end());
  all.insert(claimed[1].begin(), claimed[1].end());
  EXPECT_EQ(claimed[0].size() + claimed[1].size(), 4u);
  EXPECT_EQ(all.size(), 4u);
}

TEST_F(RuleTasks, OfOneJobAreClaimedTogetherAndThoseThatFailedAlone) {
  NewJob other;
  other.name = "other";
  other.rules.push_back({"a", "Rule", {{"p", 1}}});
  const std::int64_t other_id = CreateJob(*connection_, other, 2'000)->job.job_id;
  const RuleTask failed = ClaimOne();
  ASSERT_TRUE(FailRuleTask(*connection_, failed, "boom", "").ok());
  std::multiset<std::size_t> sizes;
  std::set<std::int64_t> jobs;
  MakeDue();
  for (auto tasks = Claim(*connection_, "w"); !tasks.empty(); tasks = Claim(*connection_, "w")) {
    sizes.insert(tasks.size());
    for (const RuleTask& task : tasks) EXPECT_EQ(task.job_id, tasks[0].job_id);
    jobs.insert(tasks[0].job_id);
  }
  EXPECT_EQ(sizes, (std::multiset<std::size_t>{1, 1, 3}));
  EXPECT_EQ(jobs, (std::set{job_id_, other_id}));
}

TEST_F(RuleTasks, GoToAnotherWorkerWhenTheLeaseIsOver) {
  const RuleTask first = ClaimOne("one");
  Expire(first);
  // The task may have ended its program, so it comes alone.
  const std::vector<RuleTask> taken = Claim(*connection_, "two");
  ASSERT_EQ(taken.size(), 1u);
  const auto again = taken.begin();
  EXPECT_EQ(again->task_id, first.task_id);
  EXPECT_EQ(again->attempt, 2);
  EXPECT_FALSE(*RenewRuleTask(*connection_, first, 30s));
  EXPECT_TRUE(*RenewRuleTask(*connection_, *again, 30s));
}

TEST_F(RuleTasks, StaleFenceWritesNothing) {
  const RuleTask stale = ClaimOne();
  const Evaluated outcome = Outcome(stale, RuleStatus::kIssuesFound, true);
  Expire(stale);
  ASSERT_EQ(Claim(*connection_, "other").size(), 1u);
  EXPECT_EQ(FinishRuleTask(*connection_, outcome, "").error().code, Code::kConflict);
  EXPECT_EQ(FailRuleTask(*connection_, stale, "x", "").error().code, Code::kConflict);
  ExpectUntouched(stale);
}

// Outcomes are written whose task and state are still ours.
TEST_F(RuleTasks, SeveralOutcomesAreWrittenAtOnce) {
  const std::vector<RuleTask> tasks = Claim(*connection_, "w");
  ASSERT_EQ(tasks.size(), 4u);
  std::vector<Evaluated> outcomes;
  for (const RuleTask& task : tasks) {
    outcomes.push_back(Outcome(task, RuleStatus::kIssuesFound, true));
  }
  outcomes[1].revision = 4;
  Expire(tasks[2]);
  ASSERT_EQ(Claim(*connection_, "other").size(), 1u);
  const auto lost = FinishRuleTasks(*connection_, outcomes, "http://h");
  ASSERT_TRUE(lost.ok()) << lost.error().message;
  EXPECT_EQ(*lost, 2u);
  ExpectState(tasks[0], 1, RuleStatus::kIssuesFound);
  ExpectState(tasks[1], 0, RuleStatus::kInProgress);
  ExpectState(tasks[2], 0, RuleStatus::kInProgress);
  ExpectState(tasks[3], 1, RuleStatus::kIssuesFound);
  EXPECT_EQ(Events().size(), 2u);
  EXPECT_EQ(ListFindings(*connection_, job_id_, "", "", 10)->total, 2);
  EXPECT_EQ(*FinishRuleTasks(*connection_, outcomes, ""), 4u);
  MakeDue();
  std::vector<RuleTask> again = Claim(*connection_, "w");
  ASSERT_EQ(again.size(), 2u);  // the other two are still being evaluated
  EXPECT_EQ(again[0].attempt, 1);
}

TEST_F(RuleTasks, StaleRevisionWritesNothing) {
  const RuleTask task = ClaimOne();
  Evaluated outcome = Outcome(task, RuleStatus::kIssuesFound, true);
  outcome.revision = 4;
  EXPECT_EQ(FinishRuleTask(*connection_, outcome, "").error().code, Code::kConflict);
  ExpectUntouched(task);
}

TEST_F(RuleTasks, OutcomeIsWrittenWhole) {
  const RuleTask task = ClaimOne();
  ASSERT_TRUE(
      FinishRuleTask(*connection_, Outcome(task, RuleStatus::kIssuesFound, true), "http://h"));
  const auto state = LoadRuleState(*connection_, job_id_, task.rule_config_id);
  EXPECT_EQ(state->status, RuleStatus::kIssuesFound);
  EXPECT_EQ(state->revision, 1);
  EXPECT_EQ(state->changed_us, 9'000);
  EXPECT_EQ(state->saved, std::string("se\0en", 5));
  const auto findings = ListFindings(*connection_, job_id_, state->config.name, "", 10);
  ASSERT_TRUE(findings && findings->items.size() == 1);
  EXPECT_EQ(findings->items[0].evidence["p95"], 3);
  EXPECT_EQ(ListTransitions(*connection_, job_id_)->back().detail, "41 % of the time");
  EXPECT_EQ(Events(), std::vector<std::string>{"rule.issues_found"});
}

TEST_F(RuleTasks, StatusChangesAndMessagesComeOnce) {
  const bool active[] = {true, true, false, false};
  for (const bool now : active) {
    MakeDue();
    RuleTask task;
    std::vector<std::int64_t> claimed;
    for (const RuleTask& one : Claim(*connection_, "w")) {
      if (one.task_id == 1 || task.task_id == 0) task = one;
      claimed.push_back(one.task_id);
    }
    ASSERT_TRUE(FinishRuleTask(*connection_, Outcome(task, RuleStatus::kIssuesFound, now), ""));
    ASSERT_TRUE(ReleaseRuleTasks(*connection_, "w", claimed));
  }
  EXPECT_EQ(Events(), (std::vector<std::string>{"rule.issues_found", "rule.cleared"}));
  EXPECT_EQ(ListTransitions(*connection_, job_id_)->size(), 2u);
}

TEST_F(RuleTasks, AreDueAtThePlacesOfTheirJobOnTheClock) {
  NewJob other;
  other.name = "other";
  other.rules = {{"a", "Rule", {{"p", 1}}}};
  ASSERT_TRUE(CreateJob(*connection_, other, 2'000));
  constexpr char kNow[] = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint";
  const std::int64_t before_us = connection_->Query(kNow)->Int(0, 0);
  for (int i = 0; i < 5; ++i) {
    Evaluated outcome = Outcome(ClaimOne(), RuleStatus::kInProgress, false);
    outcome.next_in = 7s;
    ASSERT_TRUE(FinishRuleTask(*connection_, outcome, ""));
  }
  const auto rows = connection_->Query(
      "select count(*), count(distinct due_us % 7000000), min(due_us), max(due_us) from rule_tasks "
      "group by job_id order by 1");
  ASSERT_TRUE(rows->size() == 2 && rows->Int(1, 0) == 4 && rows->Int(1, 1) == 1);
  EXPECT_NE(rows->Int(0, 2) % 7'000'000, rows->Int(1, 2) % 7'000'000);
  EXPECT_GT(rows->Int(1, 2), before_us);
  EXPECT_LE(rows->Int(1, 3), connection_->Query(kNow)->Int(0, 0) + 7'000'000);
}

// A rule that is judged anew tells nothing while it is behind; then it tells differences.
TEST_F(RuleTasks, JudgedAnewTellsWhatDiffersFromBefore) {
  ASSERT_TRUE(connection_->Execute("delete from rule_tasks where task_id > 1"));
  struct Step {
    bool active, anew, behind;
    std::size_t messages;
  };
  const Step steps[] = {{true, false, false, 1},  {false, true, true, 1},  {true, false, true, 1},
                        {true, false, false, 1},  {false, true, true, 1},  {false, true, true, 1},
                        {false, false, false, 2}, {false, true, false, 2}, {true, false, false, 2}};
  for (const Step& step : steps) {
    MakeDue();
    Evaluated outcome = Outcome(ClaimOne(), RuleStatus::kIssuesFound, step.active);
    outcome.anew = step.anew;
    outcome.behind = step.behind;
    ASSERT_TRUE(FinishRuleTask(*connection_, outcome, ""));
    EXPECT_EQ(Events().size(), step.messages) << &step - steps;
  }
  EXPECT_EQ(Events(), (std::vector<std::string>{"rule.issues_found", "rule.cleared"}));
}

TEST_F(RuleTasks, EndInErrorAfterTheLastAttempt) {
  ASSERT_TRUE(connection_->Execute("delete from rule_tasks where task_id > 1"));
  RuleTask task;
  for (int i = 1; i <= kMostAttempts; ++i) {
    MakeDue();
    task = ClaimOne();
    EXPECT_EQ(task.attempt, i);
    ASSERT_TRUE(FailRuleTask(*connection_, task, "boom", ""));
    EXPECT_TRUE(ClaimRuleTasks(*connection_, "w", 1, 30s)->empty());
  }
  const auto state = LoadRuleState(*connection_, job_id_, task.rule_config_id);
  EXPECT_EQ(state->status, RuleStatus::kError);
  EXPECT_EQ(Events(), std::vector<std::string>{"rule.error"});
  MakeDue();
  EXPECT_TRUE(ClaimRuleTasks(*connection_, "w", 1, 30s)->empty());
}

TEST_F(RuleTasks, AreDueOnceMoreAfterTheirLastTurn) {
  ASSERT_TRUE(connection_->Execute("delete from rule_tasks where task_id > 3"));
  const auto tasks = Claim(*connection_, "w");
  ASSERT_EQ(tasks.size(), 3u);
  Evaluated last = Outcome(tasks[0], RuleStatus::kNoIssuesFound, false);
  last.last = true;
  ASSERT_TRUE(FinishRuleTask(*connection_, last, ""));
  for (int i = 0; i < kMostAttempts; ++i) {  // the second one fails for good
    RuleTask failing = tasks[1];
    if (i > 0) {
      Expire(failing);
      failing = ClaimOne();
    }
    ASSERT_TRUE(FailRuleTask(*connection_, failing, "boom", ""));
    MakeDue();
  }
  ASSERT_TRUE(JudgeOnceMore(*connection_, job_id_));
  EXPECT_FALSE(*RenewRuleTask(*connection_, tasks[2], 30s)) << "its turn was under way";
  auto again = Claim(*connection_, "w");
  ASSERT_EQ(again.size(), 2u);
  std::ranges::sort(again, {}, &RuleTask::task_id);  // both are due, in either order
  EXPECT_EQ(again[0].task_id, tasks[0].task_id);
  EXPECT_EQ(again[0].attempt, 1);
  EXPECT_EQ(again[1].task_id, tasks[2].task_id);
}

TEST_F(RuleTasks, AreGivenBackAtShutdownWithoutAnAttempt) {
  const RuleTask task = ClaimOne("me");
  ASSERT_TRUE(ReleaseRuleTasks(*connection_, "another", {&task.task_id, 1}));
  EXPECT_TRUE(*RenewRuleTask(*connection_, task, 30s));
  ASSERT_TRUE(ReleaseRuleTasks(*connection_, "me", {&task.task_id, 1}));
  const auto again = ClaimRuleTasks(*connection_, "other", 10, 30s);
  ASSERT_EQ(again->size(), 4u);
  for (const RuleTask& one : *again) EXPECT_EQ(one.attempt, 1);
  EXPECT_FALSE(*RenewRuleTask(*connection_, task, 30s));
}

TEST_F(RuleTasks, FindingsPageInOrderOfTime) {
  const RuleTask task = ClaimOne();
  Evaluated outcome = Outcome(task, RuleStatus::kIssuesFound, true);
  outcome.findings.clear();
  for (int i = 1; i <= 5; ++i) {
    outcome.findings.push_back({0, i, 100 - i / 2, 200, "", "", "", "s", -1, Json::object()});
  }
  ASSERT_TRUE(FinishRuleTask(*connection_, outcome, ""));
  std::string after;
  std::vector<std::int64_t> seen;
  do {
    const auto page = ListFindings(*connection_, job_id_, "", after, 2);
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(page->total, 5);
    for (const FindingRow& row : page->items) seen.push_back(row.finding);
    after = page->next;
  } while (!after.empty());
  EXPECT_EQ(seen, (std::vector<std::int64_t>{4, 5, 2, 3, 1}));
}

}  // namespace
}  // namespace stepscope
