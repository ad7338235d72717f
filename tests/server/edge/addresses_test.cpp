// Whose connections count, on every kind of socket.

#include "server/edge/addresses.h"

#include <filesystem>

#include "tests/server/edge/edge_test.h"
#include "tests/support/at_once.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

TEST(Addresses, AnIpv6NetworkCountsAsOne) {
  Addresses addresses(2);
  std::string first, second, third, other;
  EXPECT_TRUE(addresses.Add("2001:db8::1", first));
  EXPECT_TRUE(addresses.Add("2001:db8::2", second));
  EXPECT_FALSE(addresses.Add("2001:db8::3", third));
  EXPECT_TRUE(addresses.Add("2001:db8:0:1::1", other));
  addresses.Remove(first);
  EXPECT_TRUE(addresses.Add("2001:db8::3", third));
}

TEST(Addresses, UnixSocketsAndNoLimitCountNobody) {
  Addresses one(1), none(0);
  std::string key;
  for (int count = 0; count < 3; ++count) {
    EXPECT_TRUE(one.Add("unix", key));
    EXPECT_TRUE(none.Add("192.0.2.1", key));
    EXPECT_EQ(key, "");
  }
}

TEST(Addresses, WhoSpeaksForManyDoesNotCount) {
  Addresses addresses(1, [](const std::string& peer) { return peer == "192.0.2.1"; });
  std::string key;
  for (int count = 0; count < 3; ++count) EXPECT_TRUE(addresses.Add("192.0.2.1", key));
  EXPECT_TRUE(addresses.Add("192.0.2.2", key));
  EXPECT_FALSE(addresses.Add("192.0.2.2", key));
}

class AddressLimitTest : public EdgeTest {
 protected:
  AddressLimitTest() : EdgeTest({.workers = 2, .most_per_address = 2}) {}

  static std::string PeerOf(RawClient& client) {
    client.Send(Get("/peer"));
    return BodyOf(client.ReadAnswer());
  }
};

TEST_F(AddressLimitTest, TheThirdOfAnAddressIsClosedAndOthersAreServed) {
  RawClient first(edge_.port()), second(edge_.port()), third(edge_.port());
  EXPECT_TRUE(third.IsClosed());
  RawClient other(RawClient::Socket{ConnectTo(edge_.port(), "127.0.0.2")});
  EXPECT_EQ(PeerOf(other), "127.0.0.2 false ");
  EXPECT_EQ(PeerOf(first), "127.0.0.1 false ");
}

TEST_F(AddressLimitTest, WhoHadACallerNoLongerCounts) {
  std::vector<std::unique_ptr<RawClient>> known;
  for (int count = 0; count < 5; ++count) known.push_back(KnownClient());
  RawClient first(edge_.port()), second(edge_.port()), third(edge_.port());
  EXPECT_TRUE(third.IsClosed());
}

TEST_F(AddressLimitTest, AClosedConnectionLeavesItsPlace) {
  for (int count = 0; count < 10; ++count) {
    {
      RawClient client(edge_.port());
      EXPECT_EQ(PeerOf(client), "127.0.0.1 false ");
    }
    EXPECT_TRUE(Eventually([&] { return edge_.figures().open() == 0; }));
  }
}

TEST_F(AddressLimitTest, AUnixSocketServesAndItsFileGoesWithIt) {
  const test::FakeRoot folder;
  const std::string path = folder.path() + "/http.sock";
  ASSERT_TRUE(edge_.Listen({.path = path}).ok());
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int count = 0; count < 5; ++count) {
    clients.push_back(std::make_unique<RawClient>(RawClient::Socket{ConnectToFile(path)}));
    EXPECT_EQ(PeerOf(*clients.back()), "unix false ");
  }
  edge_.Stop(1s);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(AddressLimitTest, Ipv6Serves) {
  Edge edge({.workers = 1},
            {.check_head = [](Request&) { return HeadVerdict{}; },
             .ask = {},
             .answer = AtOnce([](const Request& request) { return TextReply(200, request.peer); }),
             .fault = {}});
  const Status listening = edge.Listen({.host = "::1"});
  if (!listening) GTEST_SKIP() << "no IPv6 here: " << listening.error().message;
  RawClient client(RawClient::Socket{ConnectTo6(edge.port())});
  client.Send(Get("/"));
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "::1");
}

}  // namespace
}  // namespace stepscope
