// Webhooks hear of nodes and jobs that nobody hears.

#include "server/ingest/silent_agents.h"

#include <thread>

#include "server/store/jobs/silences.h"
#include "server/store/rules/create_job.h"
#include "server/store/webhooks/deliveries.h"
#include "server/store/webhooks/webhooks.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

constexpr std::int64_t kMinuteUs = 60'000'000;

class SilentAgents : public IngestTest {
 protected:
  SilentAgents() {
    WebhookRow webhook;
    webhook.url = "https://example.com/hook";
    EXPECT_TRUE(CreateWebhook(*connection_, webhook));
  }
  void StartAgent(const std::string& job, const std::string& node = "n1") {
    FrameMaker agent(job, node);
    ExpectStored(Push({agent.Started("night")}), 1);
    Hear(job, node, 0);
  }
  // In minutes of these tests, which begin at kStartUs.
  void Hear(const std::string& job, const std::string& node, int minute) {
    EXPECT_TRUE(
        connection_->Query("update nodes set last_seen_us = $3 where job_id = $1 and name = $2",
                           {Job(job).job_id, node, kStartUs + minute * kMinuteUs}));
  }
  int TellAt(int minute, std::int64_t further_us = 0) {
    const auto told = TellSilentAgents(*connection_, 2min,
                                       kStartUs + minute * kMinuteUs + further_us, "http://s");
    EXPECT_TRUE(told) << told.error().message;
    return told ? *told : -1;
  }
  // "event node" of each message to the webhook, in the order of their making.
  std::vector<std::string> Messages() {
    const auto page = ListDeliveries(*connection_, std::nullopt, "", "", 1000);
    EXPECT_TRUE(page) << page.error().message;
    std::vector<std::string> messages;
    for (const DeliveryRow& row : page->items) {
      const Json data = ParseJson(row.body)->at("data");
      messages.insert(messages.begin(),
                      row.event + " " + data.value("node", data.value("job", "")));
    }
    return messages;
  }
  using Texts = std::vector<std::string>;
};

TEST_F(SilentAgents, AreToldOnceWithWhatAnAlertNeeds) {
  StartAgent("train");
  StartAgent("train", "n2");
  Hear("train", "n2", 9);
  EXPECT_EQ(TellAt(9), 1);
  EXPECT_EQ(TellAt(10), 0);
  const auto page = ListDeliveries(*connection_, std::nullopt, "train", "", 10);
  ASSERT_TRUE(page && page->total == 1);
  const Json body = *ParseJson(page->items[0].body);
  EXPECT_EQ(Dump(body),
            R"({"data":{"detail":)"
            R"("nothing was heard of the agent on node n1 since 2026-11-20T20:13:34.000000Z",)"
            R"("group":"night","job":"train","last_seen":"2026-11-20T20:13:34.000000Z",)"
            R"("node":"n1","status":"InProgress","url":"http://s/jobs/train"},"sequence":1,)"
            R"("timestamp":"2026-11-20T20:22:34.000000Z","type":"agent.silent"})");
}

TEST_F(SilentAgents, AreSilentOnlyAfterTheWholeTime) {
  StartAgent("train");
  EXPECT_EQ(TellAt(2), 0);
  EXPECT_EQ(TellAt(2, 1), 1);
}

TEST_F(SilentAgents, AreToldAgainAfterTheyWereHeard) {
  StartAgent("train");
  StartAgent("train", "n2");
  Hear("train", "n2", 99);
  EXPECT_EQ(TellAt(3), 1);
  Hear("train", "n1", 4);
  EXPECT_EQ(TellAt(5), 0);
  EXPECT_EQ(TellAt(7), 1);
  EXPECT_EQ(Messages(), Texts({"agent.silent n1", "agent.silent n1"}));
}

TEST_F(SilentAgents, AFrameEndsTheSilence) {
  StartAgent("train");
  ASSERT_TRUE(connection_->Query("update nodes set last_seen_us = 1"));
  EXPECT_EQ(TellAt(3), 1);
  FrameMaker agent("train");
  ExpectStored(Push({agent.Ticks(kStartUs)}), 1);
  const std::int64_t now_us = ToMicros(clock_.Now());
  EXPECT_EQ(*TellSilentAgents(*connection_, 2min, now_us + kMinuteUs, "http://s"), 0);
  EXPECT_EQ(*TellSilentAgents(*connection_, 2min, now_us + 3 * kMinuteUs, "http://s"), 1);
}

TEST_F(SilentAgents, MakeTheJobStallWhenItIsAllOfThem) {
  StartAgent("train");
  StartAgent("train", "n2");
  Hear("train", "n2", 2);
  EXPECT_EQ(TellAt(3), 1);
  EXPECT_EQ(Messages(), Texts({"agent.silent n1"}));
  EXPECT_EQ(TellAt(5), 1);
  EXPECT_EQ(TellAt(6), 0);
  EXPECT_EQ(Messages(), Texts({"agent.silent n1", "agent.silent n2", "job.stalled train"}));
  const auto page = ListDeliveries(*connection_, std::nullopt, "train", "", 1);
  const Json data = ParseJson(page->items[0].body)->at("data");
  EXPECT_EQ(data["last_seen"], "2026-11-20T20:15:34.000000Z");
  EXPECT_FALSE(data.contains("node"));
}

TEST_F(SilentAgents, MakeTheJobStallAgainAfterAnyWasHeard) {
  StartAgent("train");
  StartAgent("train", "n2");
  EXPECT_EQ(TellAt(3), 2);
  Hear("train", "n2", 4);
  EXPECT_EQ(TellAt(7), 1);
  EXPECT_EQ(Messages(), Texts({"agent.silent n1", "agent.silent n2", "job.stalled train",
                               "agent.silent n2", "job.stalled train"}));
}

// Nobody becomes silent then, but nobody is left who is heard.
TEST_F(SilentAgents, MakeTheJobStallWhenTheLastOtherEnds) {
  StartAgent("train");
  FrameMaker other("train", "n2");
  ExpectStored(Push({other.Started()}), 1);
  Hear("train", "n2", 3);
  EXPECT_EQ(TellAt(3), 1);
  ExpectStored(Push({other.Ended(0)}), 2);
  EXPECT_EQ(TellAt(4), 0);
  EXPECT_EQ(TellAt(5), 0);
  EXPECT_EQ(Messages(), Texts({"agent.silent n1", "job.stalled train"}));
}

TEST_F(SilentAgents, AreNotThoseWhoHaveNothingToSay) {
  StartAgent("over");
  ASSERT_TRUE(connection_->Query("update jobs set status = 'Failed' where name = 'over'"));
  StartAgent("half", "heard");
  FrameMaker ended("half", "ended");
  ExpectStored(Push({ended.Started(), ended.Ended(0)}), 2);
  NewJob without_agent;
  without_agent.name = "samples";
  ASSERT_TRUE(CreateJob(*connection_, without_agent, kStartUs));
  const Samples sample{"n1", {kStartUs}, {{{"user.loss", ""}, {2.5}, {1}, 1}}};
  ASSERT_EQ(ingest_->PushSamples("samples", sample).status, 200);
  ASSERT_TRUE(connection_->Query("update nodes set last_seen_us = 1"));
  Hear("half", "heard", 3);
  EXPECT_EQ(TellAt(3), 0);
  EXPECT_EQ(Messages(), Texts());
}

TEST_F(SilentAgents, OfAJobThatIsStoppingAreTold) {
  StartAgent("train");
  ASSERT_TRUE(connection_->Query("update jobs set status = 'Stopping'"));
  EXPECT_EQ(TellAt(3), 1);
}

TEST_F(SilentAgents, StandInTheEventsOfTheJobWithoutAWebhookToo) {
  ASSERT_TRUE(connection_->Query("delete from webhooks"));
  StartAgent("train");
  EXPECT_EQ(TellAt(3), 1);
  EXPECT_EQ(Count("select count(*) from events where kind = 'agent_silent' and node = 'n1' and "
                  "at_us = 1795205794000000 and "
                  "detail ->> 'last_seen' = '2026-11-20T20:13:34.000000Z'"),
            1);
  EXPECT_EQ(Count("select count(*) from events where kind = 'job_stalled' and node = ''"), 1);
}

TEST_F(SilentAgents, AreToldByTheNextWhenAServiceIsKilled) {
  StartAgent("train");
  {
    const auto transaction = Transaction::Begin(*connection_);
    EXPECT_EQ(TakeUntoldSilence(*connection_, Job().job_id, kStartUs + 1)->nodes.size(), 1u);
  }
  EXPECT_EQ(TellAt(3), 1);
}

// Ingest of the others goes on meanwhile.
TEST_F(SilentAgents, AloneAreLocked) {
  for (const char* node : {"n1", "n2", "n3"}) StartAgent("train", node);
  Hear("train", "n2", 3);
  const auto transaction = Transaction::Begin(*connection_);
  const auto untold = TakeUntoldSilence(*connection_, Job().job_id, kStartUs + kMinuteUs);
  ASSERT_EQ(untold->nodes.size(), 2u);
  EXPECT_FALSE(untold->stalled);
  const auto free = database_.Connect()->Query(
      "select name from nodes where job_id = $1 for update skip locked", {Job().job_id});
  ASSERT_EQ(free->size(), 1u);
  EXPECT_EQ(free->Text(0, 0), "n2");
}

TEST_F(SilentAgents, AreToldThoughThoseOfAnotherJobCannotBe) {
  for (const char* job : {"first", "second", "third"}) StartAgent(job);
  ASSERT_TRUE(connection_->Execute(
      Format("alter table events add constraint none_of_second check (job_id <> {}) not valid",
             Job("second").job_id)));
  EXPECT_EQ(TellAt(3), 2);
  EXPECT_EQ(Messages().size(), 4u);
  ASSERT_TRUE(connection_->Execute("alter table events drop constraint none_of_second"));
  EXPECT_EQ(TellAt(4), 1);
}

TEST_F(SilentAgents, AreToldOnceByTwoServicesAtOnce) {
  constexpr int kJobs = 20;
  for (int i = 0; i < kJobs; ++i) StartAgent(Format("train-{}", i));
  int by_other = 0;
  {
    const std::jthread other([&] {
      const auto connection = database_.Connect();
      by_other = TellSilentAgents(*connection, 2min, kStartUs + 3 * kMinuteUs, "").value();
    });
    EXPECT_GE(TellAt(3), 0);
  }
  EXPECT_GE(by_other, 0);
  EXPECT_EQ(Messages().size(), 2u * kJobs);
}

// This service found the job before the other one had told of it.
TEST_F(SilentAgents, OfWhomAnotherTellsAreWaitedForAndPassedOver) {
  StartAgent("train");
  auto transaction = Transaction::Begin(*connection_);
  ASSERT_EQ(TakeUntoldSilence(*connection_, Job().job_id, kStartUs + 1)->nodes.size(), 1u);
  int by_other = -1;
  {
    const auto second = database_.Connect();
    const std::jthread other(
        [&] { by_other = TellSilentAgents(*second, 2min, kStartUs + 3 * kMinuteUs, "").value(); });
    while (Count("select count(*) from pg_stat_activity where datname = current_database() and "
                 "wait_event_type = 'Lock'") == 0) {
      std::this_thread::yield();
    }
    ASSERT_TRUE(transaction->Commit());
  }
  EXPECT_EQ(by_other, 0);
  EXPECT_EQ(Messages(), Texts());
}

TEST(Listening, BeginsAnewAfterABreakAndWhenTheClockIsSet) {
  Listening listening;
  const Time start = FromMicros(kStartUs);
  EXPECT_EQ(listening.For(start), 0s);
  EXPECT_EQ(listening.For(start + 30s), 30s);
  EXPECT_EQ(listening.For(start + 90s), 90s);
  EXPECT_EQ(listening.For(start + 1h), 0s);
  EXPECT_EQ(listening.For(start + 1h + 30s), 30s);
  EXPECT_EQ(listening.For(start), 0s);
  EXPECT_EQ(listening.For(start + 30s), 30s);
}

// An agent that pushes every 60 s may then be heard only when this time has passed.
TEST(Listening, BeginsAnewAfterASingleTurnAtWhichNobodyCouldBeHeard) {
  Listening listening;
  const Time start = FromMicros(kStartUs);
  listening.For(start);
  EXPECT_EQ(listening.For(start + 30s), 30s);
  listening.Stop();
  EXPECT_EQ(listening.For(start + 60s), 0s);
  EXPECT_EQ(listening.For(start + 90s), 30s);
}

TEST_F(SilentAgents, CannotBeHeardWhileTheDatabaseIsReadOnly) {
  EXPECT_TRUE(TakesFrames(*connection_));
  ASSERT_TRUE(connection_->Execute("set default_transaction_read_only = on"));
  EXPECT_FALSE(TakesFrames(*connection_));
}

}  // namespace
}  // namespace stepscope
