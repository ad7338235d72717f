// Requests that were sent before the edge stops are answered; nothing else holds it up.

#include "tests/server/edge/edge_test.h"

namespace stepscope {
namespace {

class StopTest : public EdgeTest {
 protected:
  StopTest() : EdgeTest({.workers = 1, .most_per_address = 0, .drain_within = 200ms}) {}

  // Keeps the only worker busy, and tells when the edge has begun to stop.
  void HoldWorker(RawClient& client) {
    client.Send(Get("/hold"));
    EXPECT_TRUE(AreHeld(1));
  }
  void StopWhile(const std::function<void()>& meanwhile) {
    Worker stopping("stop", [&](const std::stop_token&) { edge_.Stop(10s); });
    meanwhile();
  }
};

TEST_F(StopTest, EveryRequestSentBeforeIsAnswered) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int round = 0; round < 100; ++round) {
    clients.push_back(std::make_unique<RawClient>(edge_.port()));
    clients.back()->Send(Get("/echo"));
  }
  edge_.Stop(10s);
  for (const auto& client : clients) EXPECT_EQ(StatusOf(client->ReadAnswer()), 200);
}

TEST_F(StopTest, WhoStillWaitsToBeLetInIsAnsweredToo) {
  RawClient stalling(edge_.port());
  stalling.Send(Get("/stall"));
  EXPECT_TRUE(AreHeld(1));
  std::vector<std::unique_ptr<RawClient>> waiting;
  for (int count = 0; count < 100; ++count) {
    waiting.push_back(std::make_unique<RawClient>(edge_.port()));
    waiting.back()->Send(Get("/echo"));
  }
  StopWhile([&] {
    EXPECT_FALSE(stalling.HasNews(50)) << "the edge had time to be told";
    OpenGate();
    for (const auto& client : waiting) EXPECT_EQ(StatusOf(client->ReadAnswer()), 200);
  });
}

TEST_F(StopTest, ARequestInAnIdleConnectionIsAnsweredAndEndsIt) {
  const auto client = KnownClient();
  client->Send(Get("/echo"));
  edge_.Stop(10s);
  EXPECT_EQ(StatusOf(client->ReadAnswer()), 200);
  EXPECT_TRUE(client->IsClosed());
}

TEST_F(StopTest, RunningAndQueuedRequestsAreAnswered) {
  RawClient running(edge_.port()), queued(edge_.port());
  HoldWorker(running);
  queued.Send(Get("/echo"));
  EXPECT_TRUE(Eventually([&] { return edge_.figures().queued == 1; }));
  StopWhile([&] {
    EXPECT_TRUE(Eventually([&] { return ConnectTo(edge_.port()) < 0; }));
    OpenGate();
    EXPECT_EQ(StatusOf(running.ReadAnswer()), 200);
    EXPECT_EQ(StatusOf(queued.ReadAnswer()), 200);
  });
}

TEST_F(StopTest, ABodyThatIsStillComingIsTaken) {
  RawClient client(edge_.port());
  client.Send(Post("Content-Length: 4\r\n", "ab"));
  EXPECT_TRUE(Eventually([&] { return Count(ConnectionState::kBody) == 1; }));
  StopWhile([&] {
    EXPECT_TRUE(Eventually([&] { return ConnectTo(edge_.port()) < 0; }));
    client.Send("cd");
    EXPECT_EQ(BodyOf(client.ReadAnswer()), "abcd");
  });
}

TEST_F(StopTest, SilentAndIncompleteOnesAreClosedAtOnce) {
  RawClient silent(edge_.port()), dripping(edge_.port());
  const auto idle = KnownClient();
  dripping.Send("GET /echo HTTP/1.1\r\n");
  EXPECT_TRUE(Eventually([&] { return Count(ConnectionState::kHead) == 1; }));
  edge_.Stop(10s);
  EXPECT_TRUE(silent.IsClosed());
  EXPECT_TRUE(dripping.IsClosed());
  EXPECT_TRUE(idle->IsClosed());
}

TEST_F(StopTest, AfterTheGraceWhatIsUnderWayIsCut) {
  RawClient client(edge_.port());
  client.Send(Post("Content-Length: 4\r\n", "ab"));
  EXPECT_TRUE(Eventually([&] { return Count(ConnectionState::kBody) == 1; }));
  edge_.Stop(20ms);
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(StopTest, WhoIsInAHurryNeedNotWaitForTheGrace) {
  RawClient client(edge_.port());
  client.Send(Post("Content-Length: 4\r\n", "ab"));
  EXPECT_TRUE(Eventually([&] { return Count(ConnectionState::kBody) == 1; }));
  std::stop_source hurry;
  hurry.request_stop();
  edge_.Stop(1h, hurry.get_token());
  EXPECT_TRUE(client.IsClosed());
}

}  // namespace
}  // namespace stepscope
