// Who is ended for whom when there are as many connections as there may be.

#include "tests/server/edge/edge_test.h"

namespace stepscope {
namespace {

class RoomTest : public EdgeTest {
 protected:
  explicit RoomTest(std::size_t most_per_address = 0)
      : EdgeTest({.workers = 2, .most_connections = 3, .most_per_address = most_per_address}) {}

  std::unique_ptr<RawClient> Connect(ConnectionState as, const std::string& first = "") {
    const std::uint64_t before = Count(as);
    auto client = std::make_unique<RawClient>(edge_.port());
    client->Send(first);
    EXPECT_TRUE(Eventually([&] { return Count(as) == before + 1; }));
    return client;
  }
  void ExpectServed(RawClient& client) {
    EXPECT_TRUE(client.Send(Get("/echo")));
    EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
  }
};

TEST_F(RoomTest, TheLongestSilentConnectionMakesRoom) {
  const auto first = Connect(ConnectionState::kIdle), second = Connect(ConnectionState::kIdle),
             third = Connect(ConnectionState::kIdle);
  RawClient fourth(edge_.port());
  ExpectServed(fourth);
  EXPECT_TRUE(first->IsClosed());
  ExpectServed(*second);
  ExpectServed(*third);
  EXPECT_EQ(edge_.figures().shed, 1U);
}

TEST_F(RoomTest, SilentOnesGoBeforeSlowOnes) {
  const auto slow = Connect(ConnectionState::kHead, "GET /echo HTTP/1.1\r\n"),
             silent = Connect(ConnectionState::kIdle), other = Connect(ConnectionState::kIdle);
  RawClient newcomer(edge_.port());
  ExpectServed(newcomer);
  EXPECT_TRUE(silent->IsClosed());
  slow->Send("Host: a\r\n\r\n");
  EXPECT_EQ(StatusOf(slow->ReadAnswer()), 200);
}

TEST_F(RoomTest, TheSlowestHeadGoesWhenNoneIsSilent) {
  const std::string part = "GET /echo HTTP/1.1\r\n";
  const auto first = Connect(ConnectionState::kHead, part),
             second = Connect(ConnectionState::kHead, part),
             third = Connect(ConnectionState::kHead, part);
  first->Send("X-Drip: 1\r\n");  // sending a little more does not help it
  RawClient newcomer(edge_.port());
  ExpectServed(newcomer);
  EXPECT_TRUE(first->IsClosed());
  second->Send("Host: a\r\n\r\n");
  EXPECT_EQ(StatusOf(second->ReadAnswer()), 200);
}

TEST_F(RoomTest, WhoHadACallerIsKeptWhileAnyoneElseCanGo) {
  const auto known = KnownClient(), other = KnownClient();
  const auto dripping = Connect(ConnectionState::kHead, "GET /");
  RawClient newcomer(edge_.port());
  ExpectServed(newcomer);
  EXPECT_TRUE(dripping->IsClosed());
  ExpectServed(*known);
  ExpectServed(*other);
}

TEST_F(RoomTest, AmongKnownOnesTheLongestIdleGoes) {
  const auto first = KnownClient(), second = KnownClient(), third = KnownClient();
  RawClient newcomer(edge_.port());
  ExpectServed(newcomer);
  EXPECT_TRUE(first->IsClosed());
  ExpectServed(*second);
}

TEST_F(RoomTest, NobodyIsEndedWhoseRequestIsAtWork) {
  RawClient first(edge_.port()), second(edge_.port()), third(edge_.port());
  for (RawClient* client : {&first, &second, &third}) client->Send(Get("/hold"));
  EXPECT_TRUE(Eventually([&] { return Count(ConnectionState::kAnswering) == 3; }));
  RawClient newcomer(edge_.port());
  EXPECT_TRUE(newcomer.IsClosed());
  OpenGate();
  for (RawClient* client : {&first, &second, &third}) {
    EXPECT_EQ(StatusOf(client->ReadAnswer()), 200);
  }
}

class CrowdedRoomTest : public RoomTest {
 protected:
  CrowdedRoomTest() : RoomTest(2) {}
};

TEST_F(CrowdedRoomTest, NobodyIsEndedForOneWhoseAddressHasEnough) {
  RawClient other(RawClient::Socket{ConnectTo(edge_.port(), "127.0.0.2")});
  EXPECT_TRUE(Eventually([&] { return Count(ConnectionState::kIdle) == 1; }));
  RawClient first(edge_.port()), second(edge_.port());
  for (int count = 0; count < 5; ++count) EXPECT_TRUE(RawClient(edge_.port()).IsClosed());
  for (RawClient* client : {&other, &first, &second}) ExpectServed(*client);
}

TEST_F(RoomTest, AHundredSilentConnectionsLockNobodyOut) {
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int count = 0; count < 100; ++count) {
    silent.push_back(std::make_unique<RawClient>(edge_.port()));
  }
  RawClient newcomer(edge_.port());
  ExpectServed(newcomer);
  EXPECT_TRUE(Eventually([&] { return edge_.figures().accepted == 101; }));
  EXPECT_LE(edge_.figures().open(), 3U);
}

}  // namespace
}  // namespace stepscope
