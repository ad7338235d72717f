// New files for a service that runs.

#include "tests/server/edge/tls_edge_test.h"

namespace stepscope {
namespace {

class TlsReloadTest : public TlsEdgeTest {
 protected:
  std::string Shown() const { return TlsRawClient(edge_.port()).shown(); }
};

TEST_F(TlsReloadTest, NewConnectionsGetTheNewCertificateAndOldOnesGoOn) {
  TlsRawClient old(edge_.port());
  Save("server", test::Identity("second.test"));
  EXPECT_EQ(Shown(), "first.test");
  ASSERT_TRUE(edge_.ReloadTls().ok());
  EXPECT_EQ(Shown(), "second.test");
  EXPECT_EQ(StatusOf(AskOver(old, Get("/echo"))), 200);
}

TEST_F(TlsReloadTest, ASessionFromBeforeIsMadeAnew) {
  TlsRawClient old(edge_.port());
  EXPECT_EQ(StatusOf(AskOver(old, Get("/echo"))), 200);
  const TlsSession session = old.session();
  ASSERT_TRUE(edge_.ReloadTls().ok());
  TlsRawClient client(edge_.port(), {.session = session.get()});
  EXPECT_EQ(StatusOf(AskOver(client, Get("/echo"))), 200);
  EXPECT_FALSE(client.resumed());
}

TEST_F(TlsReloadTest, ABadFileIsNamedAndTheOldOnesStay) {
  folder_.Write("/server.crt", "no certificate");
  const Status bad = edge_.ReloadTls();
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().message.find(Path("server.crt")), std::string::npos);
  EXPECT_EQ(Shown(), "first.test");
}

TEST_F(TlsReloadTest, AKeyThatDoesNotFitIsNamed) {
  test::Identity("first.test").SaveKey(Path("server.key"));
  const Status bad = edge_.ReloadTls();
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().message.find(Path("server.key")), std::string::npos);
}

TEST_F(TlsReloadTest, MissingClientAuthoritiesAreNamed) {
  files_.client_ca = Path("none.crt");
  const Status bad = edge_.UseTls(files_);
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().message.find(Path("none.crt")), std::string::npos);
  EXPECT_EQ(Shown(), "first.test");
}

TEST_F(TlsReloadTest, ManyReloadsUnderLoadLoseNoConnection) {
  std::atomic<bool> enough{false};
  const Worker reloading("reload", [&](const std::stop_token& stop) {
    while (!stop.stop_requested() && !enough) EXPECT_TRUE(edge_.ReloadTls().ok());
  });
  for (int count = 0; count < 50; ++count) EXPECT_EQ(StatusOf(AskTls(Get("/echo"))), 200);
  enough = true;
}

class PlainReloadTest : public EdgeTest {};

TEST_F(PlainReloadTest, WithoutTlsThereIsNothingToDo) {
  EXPECT_TRUE(edge_.ReloadTls().ok());
  EXPECT_EQ(StatusOf(Ask(Get("/echo"))), 200);
}

}  // namespace
}  // namespace stepscope
