#include "server/store/webhooks/enqueue.h"

#include <gtest/gtest.h>

#include "server/store/jobs/job_change.h"
#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"
#include "server/store/rules/rule_message.h"
#include "server/store/webhooks/deliveries.h"
#include "server/store/webhooks/webhooks.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

// A rule of a running job that finds something, or no longer does, and what webhooks are told.
class LastingFindings : public ::testing::Test {
 protected:
  LastingFindings() : connection_(database_.Connect()) {
    NewJob job;
    job.name = "train";
    job_id_ = CreateJob(*connection_, job, 1'000)->job.job_id;
  }
  std::int64_t AddWebhook(std::int64_t after_us, std::vector<std::string> events = {}) {
    WebhookRow webhook;
    webhook.url = "https://example.com/hook";
    webhook.events = std::move(events);
    webhook.after_us = after_us;
    return CreateWebhook(*connection_, webhook)->webhook_id;
  }
  void Judge(bool active, const std::string& config = "idle",
             RuleStatus status = RuleStatus::kIssuesFound) {
    RuleBefore& before = before_[config];
    before.config = config;
    before.rule = "IdleGPU";
    before.job = "train";
    const Json verdict = {{"active", active}};
    const std::string detail = "an idle GPU";
    const Status told =
        AnnounceRule(*connection_, job_id_, before, {status, verdict, detail, 5'000}, "");
    EXPECT_TRUE(told) << told.error().message;
    before.status = status;
    before.verdict = verdict;
  }
  // As if the time that findings must last was over.
  void Last() {
    ASSERT_TRUE(connection_->Execute("update deliveries set due_us = 1 where state = 'ready'"));
  }
  // Sends what is due, and returns its events.
  std::vector<std::string> Send() {
    std::vector<std::string> events;
    for (auto due = ClaimDeliveries(*connection_, 10, 30s); due && !due->empty();
         due = ClaimDeliveries(*connection_, 10, 30s)) {
      for (const DeliveryRow& row : *due) {
        events.push_back(row.event);
        EXPECT_TRUE(FinishDelivery(
            *connection_,
            {row.delivery_id, row.fence, {{"status", 204}}, "delivered", Duration(0)}));
      }
    }
    return events;
  }
  std::int64_t Count() { return ListDeliveries(*connection_, std::nullopt, "", "", 10)->total; }

  using Events = std::vector<std::string>;
  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
  std::int64_t job_id_ = 0;
  std::map<std::string, RuleBefore> before_;
};

constexpr std::int64_t kTenMinutes = 600'000'000;

TEST_F(LastingFindings, AreToldOnceTheyHaveLasted) {
  AddWebhook(kTenMinutes);
  Judge(true);
  EXPECT_EQ(Send(), Events{});
  Judge(true);
  const DeliveryRow row = ListDeliveries(*connection_, std::nullopt, "", "", 10)->items.at(0);
  const auto now = connection_->Query("select (extract(epoch from now()) * 1000000)::bigint");
  EXPECT_NEAR(double(row.due_us - now->Int(0, 0)), double(kTenMinutes), 60e6);
  Last();
  EXPECT_EQ(Send(), Events{"rule.issues_found"});
  Judge(false);
  EXPECT_EQ(Send(), Events{"rule.cleared"});
}

TEST_F(LastingFindings, ThatAreOverBeforeAreNeverTold) {
  AddWebhook(kTenMinutes);
  Judge(true);
  Judge(false);
  EXPECT_EQ(ListDeliveries(*connection_, std::nullopt, "", "", 10)->items.at(0).state, "dead");
  Last();
  EXPECT_EQ(Send(), Events{});
  EXPECT_EQ(Count(), 1) << "nor that they are over";
}

// The rule stays at IssuesFound: others were told once and hear of no second time.
TEST_F(LastingFindings, ThatComeBackAreCountedFromThen) {
  AddWebhook(kTenMinutes);
  const std::int64_t other = AddWebhook(0);
  for (const bool active : {true, false, true}) Judge(active);
  EXPECT_EQ(Send(), (Events{"rule.issues_found", "rule.cleared"})) << "the other webhook";
  EXPECT_EQ(ListDeliveries(*connection_, other, "", "", 10)->total, 2);
  Last();
  EXPECT_EQ(Send(), Events{"rule.issues_found"});
  for (const bool active : {false, true, false}) Judge(active);
  EXPECT_EQ(Send(), (Events{"rule.cleared", "rule.cleared", "rule.cleared"}))
      << "twice the other webhook, once the one that was told of the finding";
}

TEST_F(LastingFindings, HoldUpNoOtherMessageOfTheirJob) {
  AddWebhook(kTenMinutes);
  Judge(true);
  ASSERT_TRUE(EnqueueDeliveries(*connection_, job_id_, "agent.silent", {{"type", "x"}}, 2'000));
  EXPECT_EQ(Send(), Events{"agent.silent"});
}

TEST_F(LastingFindings, OfOneRuleAreNotThoseOfAnother) {
  AddWebhook(kTenMinutes);
  Judge(true, "idle");
  Judge(true, "idle too");
  Judge(false, "idle");
  Last();
  EXPECT_EQ(Send(), Events{"rule.issues_found"});
  Judge(false, "idle too");
  EXPECT_EQ(Send(), Events{"rule.cleared"});
}

TEST_F(LastingFindings, OfAJobThatEndsBeforeAreNeverTold) {
  const std::int64_t waits = AddWebhook(kTenMinutes);
  Judge(true);
  JobChange ends;
  ends.status = JobStatus::kCompleted;
  ends.secondary_status = "Completed";
  ASSERT_TRUE(ChangeJob(*connection_, job_id_, ends, ""));
  Judge(true, "found when all had come");
  Last();
  EXPECT_EQ(Send(), Events{"job.completed"});
  EXPECT_EQ(ListDeliveries(*connection_, waits, "", "", 10)->total, 2);
}

TEST_F(LastingFindings, OfARuleThatFailsAreWithdrawn) {
  AddWebhook(kTenMinutes);
  Judge(true);
  Judge(true, "idle", RuleStatus::kError);
  Last();
  EXPECT_EQ(Send(), Events{"rule.error"});
}

TEST_F(LastingFindings, ThatWereOverWhenTheyWereFoundAreForThoseThatWaitForNothing) {
  const std::int64_t waits = AddWebhook(kTenMinutes);
  AddWebhook(0);
  Judge(false);
  EXPECT_EQ(Send(), Events{"rule.issues_found"});
  EXPECT_EQ(ListDeliveries(*connection_, waits, "", "", 10)->total, 0);
}

// The outbox was away when the time came: the finding had lasted, and is told before its end.
TEST_F(LastingFindings, WhoseTimeHasComeGoOutBeforeTheirEnd) {
  AddWebhook(kTenMinutes);
  Judge(true);
  Last();
  Judge(false);
  EXPECT_EQ(Send(), (Events{"rule.issues_found", "rule.cleared"}));
}

}  // namespace
}  // namespace stepscope
