#include "server/store/webhooks/webhooks.h"

#include <gtest/gtest.h>

#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"
#include "server/store/webhooks/deliveries.h"
#include "server/store/webhooks/enqueue.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

class Deliveries : public ::testing::Test {
 protected:
  Deliveries() : connection_(database_.Connect()) {
    NewJob job;
    job.name = "train";
    job_id_ = CreateJob(*connection_, job, 1'000)->job.job_id;
  }
  std::int64_t AddWebhook(std::vector<std::string> events = {}) {
    WebhookRow webhook;
    webhook.url = "https://example.com/hook";
    webhook.events = std::move(events);
    webhook.secret_sealed = std::string("\0\xff", 2);
    return CreateWebhook(*connection_, webhook)->webhook_id;
  }
  std::vector<DeliveryRow> Claim(int most = 10) {
    auto claimed = ClaimDeliveries(*connection_, most, 30s);
    EXPECT_TRUE(claimed) << claimed.error().message;
    return *claimed;
  }
  Status Enqueue(const std::string& event) {
    return EnqueueDeliveries(*connection_, job_id_, event, {{"type", event}}, 2'000);
  }
  Status Finish(const DeliveryRow& row, const std::string& state) {
    return FinishDelivery(*connection_,
                          {row.delivery_id, row.fence, {{"status", 500}}, state, Duration(0)});
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
  std::int64_t job_id_ = 0;
};

TEST_F(Deliveries, GoToEachEnabledWebhookThatWantsTheEvent) {
  const std::int64_t all = AddWebhook(), failed = AddWebhook({"job.failed"}), off = AddWebhook();
  ASSERT_TRUE(DisableWebhook(*connection_, off, "410"));
  ASSERT_TRUE(Enqueue("job.completed"));
  ASSERT_TRUE(Enqueue("job.failed"));
  const auto page = ListDeliveries(*connection_, std::nullopt, "", "", 10);
  ASSERT_TRUE(page && page->total == 3);
  EXPECT_EQ(ListDeliveries(*connection_, all, "", "", 10)->total, 2);
  EXPECT_EQ(ListDeliveries(*connection_, failed, "train", "", 10)->items.at(0).sequence, 2);
  EXPECT_EQ(ListDeliveries(*connection_, off, "", "", 10)->total, 0);
  EXPECT_EQ(page->items[0].body, R"({"sequence":2,"type":"job.failed"})");
}

TEST_F(Deliveries, OfOneRuleGoToWhoeverNamesItAndToWhoeverWantsAll) {
  const std::int64_t all = AddWebhook(), every = AddWebhook({"rule.error"}),
                     one = AddWebhook({"rule.error:IdleGPU", "rule.cleared:IdleGPU"});
  for (const char* rule : {"IdleGPU", "Dataloader"}) {
    ASSERT_TRUE(EnqueueDeliveries(*connection_, job_id_, "rule.error",
                                  {{"type", "rule.error"}, {"data", {{"rule", rule}}}}, 2'000));
  }
  ASSERT_TRUE(Enqueue("rule.error"));
  EXPECT_EQ(ListDeliveries(*connection_, all, "", "", 10)->total, 3);
  EXPECT_EQ(ListDeliveries(*connection_, every, "", "", 10)->total, 3);
  const auto told = ListDeliveries(*connection_, one, "", "", 10);
  ASSERT_EQ(told->total, 1);
  EXPECT_EQ(told->items[0].event, "rule.error") << "as receivers know it";
  EXPECT_NE(told->items[0].body.find("IdleGPU"), std::string::npos);
}

TEST_F(Deliveries, OfARuleThatNobodyNamedTakeNoNumberOfTheJob) {
  AddWebhook({"rule.error:IdleGPU"});
  ASSERT_TRUE(EnqueueDeliveries(*connection_, job_id_, "rule.error",
                                {{"type", "rule.error"}, {"data", {{"rule", "CPUBottleneck"}}}},
                                2'000));
  const auto row = connection_->Query("select deliveries from jobs");
  EXPECT_EQ(row->Int(0, 0), 0);
}

TEST_F(Deliveries, LaterOneOfAJobWaitsUntilTheFirstWasTriedThrice) {
  AddWebhook();
  ASSERT_TRUE(Enqueue("rule.error"));
  ASSERT_TRUE(Enqueue("job.failed"));
  for (int tried = 0; tried < 3; ++tried) {
    const auto claimed = Claim();
    ASSERT_EQ(claimed.size(), 1u);
    EXPECT_EQ(claimed[0].event, "rule.error");
    ASSERT_TRUE(Finish(claimed[0], "ready"));
  }
  EXPECT_EQ(Claim().size(), 2u);
}

TEST_F(Deliveries, OfASlowTargetHoldUpNoOther) {
  const std::int64_t slow = AddWebhook(), other = AddWebhook();
  for (const std::int64_t webhook_id : {slow, slow, other}) {
    ASSERT_TRUE(EnqueueTest(*connection_, webhook_id, {{"type", "webhook.test"}}, 5));
  }
  const DeliveryRow first = Claim(1).at(0);
  EXPECT_EQ(first.webhook_id, slow);
  EXPECT_EQ(Claim(1).at(0).webhook_id, other);
  EXPECT_TRUE(Claim(1).empty());
  ASSERT_TRUE(Finish(first, "delivered"));
  EXPECT_EQ(Claim(1).at(0).webhook_id, slow);
}

TEST_F(Deliveries, StaleFenceWritesNothing) {
  AddWebhook();
  ASSERT_TRUE(Enqueue("job.failed"));
  const DeliveryRow stale = Claim().at(0);
  EXPECT_TRUE(Claim().empty());
  ASSERT_TRUE(connection_->Execute("update deliveries set lease_until_us = 1"));
  const DeliveryRow mine = Claim().at(0);
  EXPECT_EQ(Finish(stale, "dead").error().code, Code::kConflict);
  ASSERT_TRUE(Finish(mine, "delivered"));
  const auto row = LoadDelivery(*connection_, mine.delivery_id);
  EXPECT_EQ(row->state, "delivered");
  EXPECT_EQ(row->attempts.size(), 1u);
  EXPECT_TRUE(row->delivered_us.has_value());
}

TEST_F(Deliveries, DieWithTheirWebhook) {
  const std::int64_t webhook_id = AddWebhook();
  ASSERT_TRUE(Enqueue("job.failed"));
  const DeliveryRow row = Claim().at(0);
  ASSERT_TRUE(DeleteWebhook(*connection_, webhook_id));
  EXPECT_EQ(Finish(row, "delivered").error().code, Code::kConflict);
  EXPECT_EQ(LoadDelivery(*connection_, row.delivery_id)->state, "dead");
  EXPECT_EQ(DeleteWebhook(*connection_, webhook_id).error().code, Code::kNotFound);
  EXPECT_EQ(EnqueueTest(*connection_, webhook_id, Json::object(), 1).error().code, Code::kNotFound);
}

TEST_F(Deliveries, PageFromTheNewest) {
  AddWebhook();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Enqueue("job.failed"));
  std::string after;
  std::vector<std::int64_t> seen;
  do {
    const auto page = ListDeliveries(*connection_, std::nullopt, "train", after, 2);
    ASSERT_TRUE(page) << page.error().message;
    for (const DeliveryRow& row : page->items) seen.push_back(row.sequence);
    after = page->next;
  } while (!after.empty());
  EXPECT_EQ(seen, (std::vector<std::int64_t>{5, 4, 3, 2, 1}));
}

TEST_F(Deliveries, WebhookComesBackAsItWasMade) {
  const std::int64_t webhook_id = AddWebhook({"job.failed", "it's \"quoted\", {x}"});
  const auto webhook = LoadWebhook(*connection_, webhook_id);
  ASSERT_TRUE(webhook);
  EXPECT_EQ(webhook->secret_sealed, std::string("\0\xff", 2));
  EXPECT_EQ(webhook->events[1], "it's \"quoted\", {x}");
  EXPECT_EQ(ListWebhooks(*connection_)->size(), 1u);
  const auto test = EnqueueTest(*connection_, webhook_id, {{"type", "webhook.test"}}, 5);
  ASSERT_TRUE(test) << test.error().message;
  EXPECT_EQ(test->event, "webhook.test");
}

}  // namespace
}  // namespace stepscope
