// Replies that come when nobody waits for them on a worker any more.

#include <thread>

#include "tests/server/edge/edge_test.h"

namespace stepscope {
namespace {

// Requests for /later are kept until the test answers them.
class LaterTest : public EdgeTest {
 protected:
  LaterTest() : EdgeTest({.workers = 1}) {}

  std::unique_ptr<RawClient> Send(const std::string& target) const {
    auto client = std::make_unique<RawClient>(edge_.port());
    client->Send(Get(target));
    return client;
  }
};

TEST_F(LaterTest, HoldNoWorkerMeanwhile) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int count = 0; count < 20; ++count) clients.push_back(Send("/later"));
  std::vector<Respond> kept = Kept(20);
  ASSERT_EQ(kept.size(), 20U);
  EXPECT_EQ(StatusOf(Ask(Get("/echo"))), 200);
  std::jthread([&] {
    for (const Respond& respond : kept) respond(TextReply(200, "now"));
  }).join();
  for (const auto& client : clients) EXPECT_EQ(BodyOf(client->ReadAnswer()), "now");
  EXPECT_TRUE(Eventually([&] { return Count(ConnectionState::kAnswering) == 0; }));
}

TEST_F(LaterTest, AnswerTheirOwnRequest) {
  const auto first = Send("/later"), second = Send("/hold");
  const std::vector<Respond> kept = Kept(1);
  ASSERT_EQ(kept.size(), 1U);
  OpenGate();
  EXPECT_EQ(BodyOf(second->ReadAnswer()), "GET /hold?");
  kept[0](TextReply(200, "mine"));
  EXPECT_EQ(BodyOf(first->ReadAnswer()), "mine");
}

TEST_F(LaterTest, TheFirstOfTwoCounts) {
  const auto client = Send("/later");
  const std::vector<Respond> kept = Kept(1);
  ASSERT_EQ(kept.size(), 1U);
  kept[0](TextReply(200, "first"));
  kept[0](TextReply(200, "second"));
  EXPECT_EQ(BodyOf(client->ReadAnswer()), "first");
  kept[0](TextReply(200, "third"));
  client->Send(Get("/peer"));
  EXPECT_EQ(BodyOf(client->ReadAnswer()), "127.0.0.1 false ");
}

TEST_F(LaterTest, OneThatDoesNotComeIsA503AndComesTooLate) {
  const auto client = Send("/later?soon");
  const std::vector<Respond> kept = Kept(1);
  ASSERT_EQ(kept.size(), 1U);
  const std::string answer = client->ReadAnswer();
  EXPECT_EQ(StatusOf(answer), 503);
  EXPECT_EQ(HeaderOf(answer, "retry-after"), "1");
  EXPECT_EQ(Timeouts(ConnectionState::kAnswering), 1U);
  kept[0](TextReply(200, "late"));
  client->Send(Get("/peer"));
  EXPECT_EQ(BodyOf(client->ReadAnswer()), "127.0.0.1 false ") << "the connection goes on";
}

TEST_F(LaterTest, OneThatIsForgottenIsA503) {
  const auto client = Send("/later?soon");
  Kept(1).clear();
  EXPECT_EQ(StatusOf(client->ReadAnswer()), 503);
}

TEST_F(LaterTest, TheClientMayBeGone) {
  auto client = Send("/later");
  const std::vector<Respond> kept = Kept(1);
  ASSERT_EQ(kept.size(), 1U);
  client.reset();
  kept[0](TextReply(200, std::string(100'000, 'x')));
  EXPECT_EQ(StatusOf(Ask(Get("/echo"))), 200);
  EXPECT_TRUE(Eventually([&] { return edge_.figures().answer_bytes == 0; }));
}

TEST_F(LaterTest, AreWaitedForWhenTheEdgeStops) {
  const auto client = Send("/later");
  const std::vector<Respond> kept = Kept(1);
  ASSERT_EQ(kept.size(), 1U);
  const Worker stopping("stop", [&](const std::stop_token&) { edge_.Stop(10s); });
  EXPECT_TRUE(Eventually([&] { return ConnectTo(edge_.port()) < 0; }));
  kept[0](TextReply(200, "last"));
  const std::string answer = client->ReadAnswer();
  EXPECT_EQ(BodyOf(answer), "last");
  EXPECT_EQ(HeaderOf(answer, "connection"), "close");
  EXPECT_TRUE(client->IsClosed());
}

TEST_F(LaterTest, MayComeWhenTheEdgeIsGone) {
  Respond kept;
  {
    Guarded<std::optional<Respond>> asked;
    EdgeHandlers handlers;
    handlers.check_head = [](Request&) { return HeadVerdict{}; };
    handlers.answer = [&](const Request&, const Respond& respond, MayWait) {
      asked.Change([&](auto& value) { value = respond; });
      return true;
    };
    Edge edge({.workers = 1}, handlers);
    ASSERT_TRUE(edge.Listen({.host = "127.0.0.1"}).ok());
    RawClient client(edge.port());
    client.Send(Get("/"));
    ASSERT_TRUE(asked.Wait({}, 10s, [](const auto& value) { return value.has_value(); }));
    edge.Stop(0ms);
    EXPECT_TRUE(client.IsClosed());
    kept = asked.Read([](const auto& value) { return *value; });
  }
  kept(TextReply(200, "to nobody"));
}

}  // namespace
}  // namespace stepscope
