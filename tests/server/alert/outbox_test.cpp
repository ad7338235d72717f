#include "server/alert/outbox.h"

#include <gtest/gtest.h>

#include <deque>
#include <thread>

#include "server/alert/sign.h"
#include "tests/support/postgres.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temp_folder.h"

namespace stepscope {
namespace {

using test::Peer;
using test::ScriptedServer;
using test::SeenRequest;

std::string HeaderOf(const SeenRequest& request, const std::string& name) {
  const auto at = request.head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "";
  const auto from = at + name.size() + 4;
  return request.head.substr(from, request.head.find("\r\n", from) - from);
}

class OutboxSends : public testing::Test {
 protected:
  OutboxSends() : database_(postgres_.url(), 4), connection_(postgres_.Connect()) {
    options_.policy = *AddressPolicy::Read({"127.0.0.0/8"});
    options_.idle = 5ms;
    secrets_ = std::make_unique<SecretBox>(*SecretBox::Open(folder_.path() + "/key"));
  }

  WebhookRow AddWebhook(const std::string& url) {
    WebhookRow webhook;
    webhook.url = url;
    webhook.secret_sealed = *secrets_->Seal(secret_);
    return *CreateWebhook(*connection_, webhook);
  }
  std::int64_t Enqueue(const WebhookRow& webhook) {
    const Json body = {{"type", "webhook.test"}, {"data", {{"url", "http://here"}}}};
    return EnqueueTest(*connection_, webhook.webhook_id, body, 1'000)->delivery_id;
  }
  void Start() { outbox_ = std::make_unique<Outbox>(database_, clock_, *secrets_, options_); }

  // Waits until the message is in the state; each wait for a retry is cut short.
  DeliveryRow WaitFor(std::int64_t delivery_id, const std::string& state) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    for (;;) {
      auto row = LoadDelivery(*connection_, delivery_id);
      if (row->state == state) return *row;
      if (std::chrono::steady_clock::now() > end) {
        ADD_FAILURE() << "still " << row->state << ": " << row->attempts;
        return *row;
      }
      EXPECT_TRUE(
          connection_->Execute("update deliveries set due_us = 0 where state = 'ready'").ok());
      std::this_thread::sleep_for(5ms);
    }
  }

  // A target that answers with these, the last of them for ever.
  ScriptedServer::Script Answers(std::deque<int> statuses) {
    return [this, statuses](Peer& peer) {
      while (auto request = peer.Read()) {
        const auto which = seen_.Change([&](auto& seen) {
          seen.push_back(*request);
          return seen.size() - 1;
        });
        if (!peer.Reply(statuses[std::min(which, statuses.size() - 1)], "thanks")) return;
      }
    };
  }
  std::vector<SeenRequest> Seen() {
    return seen_.Read([](const auto& seen) { return seen; });
  }

  TestDatabase postgres_;
  Database database_;
  std::unique_ptr<Connection> connection_;
  SystemClock clock_;
  const TempFolder folder_;
  std::string secret_ = NewWebhookSecret();
  std::unique_ptr<SecretBox> secrets_;
  OutboxOptions options_;
  Guarded<std::vector<SeenRequest>> seen_;
  std::unique_ptr<Outbox> outbox_;
};

TEST_F(OutboxSends, SignsWhatItSends) {
  ScriptedServer target(Answers({204}));
  const auto id = Enqueue(AddWebhook(target.url("/hook?a=b")));
  Start();
  const auto row = WaitFor(id, "delivered");
  const auto seen = Seen();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_TRUE(seen[0].head.starts_with("POST /hook?a=b HTTP/1.1\r\n")) << seen[0].head;
  EXPECT_EQ(seen[0].body, row.body);
  EXPECT_EQ(HeaderOf(seen[0], "webhook-id"), std::to_string(id));
  const std::string timestamp = HeaderOf(seen[0], "webhook-timestamp");
  EXPECT_EQ(HeaderOf(seen[0], "webhook-signature"),
            *SignWebhook(secret_, std::to_string(id), std::stoll(timestamp), seen[0].body));
  ASSERT_EQ(row.attempts.size(), 1u);
  EXPECT_EQ(row.attempts[0]["status"], 204);
  EXPECT_TRUE(row.delivered_us.has_value());
}

TEST_F(OutboxSends, TriesAgainWithTheSameId) {
  ScriptedServer target(Answers({500, 302, 429, 200}));
  const auto id = Enqueue(AddWebhook(target.url("/")));
  Start();
  const auto row = WaitFor(id, "delivered");
  ASSERT_EQ(row.attempts.size(), 4u);
  EXPECT_EQ(row.attempts[1]["status"], 302);  // not followed
  for (const SeenRequest& request : Seen()) {
    EXPECT_EQ(HeaderOf(request, "webhook-id"), std::to_string(id));
  }
}

TEST_F(OutboxSends, GivesUpOnATargetThatRefuses) {
  ScriptedServer target(Answers({400}));
  const auto id = Enqueue(AddWebhook(target.url("/")));
  Start();
  EXPECT_EQ(WaitFor(id, "dead").attempts.size(), 3u);
  EXPECT_EQ(outbox_->figures().again, 2u);
  EXPECT_EQ(outbox_->figures().dead, 1u);
}

TEST_F(OutboxSends, GoneDisablesTheWebhook) {
  ScriptedServer target(Answers({410}));
  const auto webhook = AddWebhook(target.url("/"));
  const auto id = Enqueue(webhook), later = Enqueue(webhook);
  Start();
  WaitFor(id, "dead");
  WaitFor(later, "dead");
  EXPECT_FALSE(LoadWebhook(*connection_, webhook.webhook_id)->enabled);
}

TEST_F(OutboxSends, NeverConnectsToARefusedAddress) {
  ScriptedServer target(Answers({200}));
  options_.policy = {};
  const auto id = Enqueue(AddWebhook(target.url("/")));
  const auto named = Enqueue(AddWebhook(Format("http://evil.example:{}/", target.port())));
  options_.resolve = [](const std::string&) {
    return Result<std::vector<std::string>>(std::vector<std::string>{"8.8.8.8", "127.0.0.1"});
  };
  Start();
  for (const auto each : {id, named}) {
    const auto row = WaitFor(each, "dead");  // the configuration might change until then
    EXPECT_TRUE(row.attempts[0]["status"].is_null());
    EXPECT_NE(row.attempts[0]["error"].get<std::string>().find("webhook http://"),
              std::string::npos);
  }
  EXPECT_EQ(target.connections(), 0);
}

TEST_F(OutboxSends, SurvivesHostileTargets) {
  const ScriptedServer::Script scripts[] = {
      [](Peer& peer) { peer.Read(); },                                  // closes
      [](Peer& peer) { peer.Read(), peer.Reset(); },                    // resets
      [](Peer& peer) { peer.Read(), peer.WaitClosed(); },               // never answers
      [](Peer& peer) { peer.Read(), peer.Write("not HTTP\r\n\r\n"); },  // nonsense
      [](Peer& peer) {                                                  // an endless header
        peer.Read();
        while (peer.Write(std::string(65536, 'x'))) {
        }
      },
  };
  options_.deadline = 300ms;
  std::vector<std::unique_ptr<ScriptedServer>> targets;
  std::vector<std::int64_t> ids;
  for (const auto& script : scripts) {
    targets.push_back(std::make_unique<ScriptedServer>(script));
    ids.push_back(Enqueue(AddWebhook(targets.back()->url("/"))));
  }
  ScriptedServer good(Answers({200}));
  const auto good_id = Enqueue(AddWebhook(good.url("/")));
  Start();
  WaitFor(good_id, "delivered");
  for (const auto id : ids) {
    const auto row = WaitFor(id, "dead");
    EXPECT_EQ(row.attempts.size(), 8u);
    EXPECT_TRUE(row.attempts[0]["error"].is_string()) << row.attempts[0];
  }
}

TEST_F(OutboxSends, EndsAtOnceAlthoughATargetHangs) {
  Guarded<bool> asked;
  ScriptedServer target([&](Peer& peer) {
    peer.Read();
    asked.Change([](bool& value) { value = true; });
    peer.WaitClosed();
  });
  const auto id = Enqueue(AddWebhook(target.url("/")));
  options_.deadline = 1h;
  Start();
  ASSERT_TRUE(asked.Wait({}, 60s, [](bool value) { return value; }));
  outbox_.reset();
  const auto row = LoadDelivery(*connection_, id);
  EXPECT_EQ(row->state, "running");  // until its lease ends
  EXPECT_EQ(row->attempts.size(), 0u);
}

TEST_F(OutboxSends, ASlowTargetHoldsUpNobodyButItself) {
  Guarded<bool> asked;
  ScriptedServer slow([&](Peer& peer) {
    peer.Read();
    asked.Change([](bool& value) { value = true; });
    peer.WaitClosed();
  });
  ScriptedServer good(Answers({200}));
  options_.deadline = 1h;
  const auto hangs = AddWebhook(slow.url("/")), answers = AddWebhook(good.url("/"));
  Enqueue(hangs);
  Start();
  ASSERT_TRUE(asked.Wait({}, 60s, [](bool value) { return value; }));
  for (int i = 0; i < 5; ++i) Enqueue(hangs);
  WaitFor(Enqueue(answers), "delivered");
  EXPECT_EQ(slow.connections(), 1);
}

TEST_F(OutboxSends, DropsMessagesOfAWebhookThatIsGone) {
  ScriptedServer target(Answers({200}));
  const auto webhook = AddWebhook(target.url("/"));
  const auto id = Enqueue(webhook);
  ASSERT_TRUE(connection_->Execute("update webhooks set enabled = false").ok());
  Start();
  EXPECT_EQ(WaitFor(id, "dead").attempts[0]["error"], "the webhook is disabled");
  EXPECT_TRUE(Seen().empty());
}

TEST_F(OutboxSends, NeedsTheKeyThatSealedTheSecret) {
  ScriptedServer target(Answers({200}));
  auto webhook = AddWebhook(target.url("/"));
  webhook.secret_sealed = "junk";
  webhook = *CreateWebhook(*connection_, webhook);
  const auto id = Enqueue(webhook);
  Start();
  const auto row = WaitFor(id, "dead");
  EXPECT_NE(row.attempts[0]["error"].get<std::string>().find("sealed with another key file"),
            std::string::npos);
}

TEST_F(OutboxSends, SeveralSendEachMessageOnce) {
  ScriptedServer target(Answers({200}));
  const auto webhook = AddWebhook(target.url("/"));
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(Enqueue(webhook));
  Start();
  Outbox other(database_, clock_, *secrets_, options_);
  for (const auto id : ids) EXPECT_EQ(WaitFor(id, "delivered").attempts.size(), 1u);
  EXPECT_EQ(Seen().size(), 40u);
}

}  // namespace
}  // namespace stepscope
