#pragma once

#include <signal.h>

#include "tests/server/edge/edge_test.h"
#include "tests/support/fake_root.h"
#include "tests/support/tls_raw_client.h"

namespace stepscope {

// An edge that speaks TLS with a P-256 certificate of its own making.
class TlsEdgeTest : public EdgeTest {
 protected:
  explicit TlsEdgeTest(EdgeOptions options = {.workers = 2}) : EdgeTest(options) {
    // The client's end only: the edge's threads have begun.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    Save("server", test::Identity("first.test"));
    EXPECT_TRUE(edge_.UseTls(files_).ok());
  }

  void Save(const std::string& name, const test::Identity& identity) const {
    identity.Save(Path(name + ".crt"));
    identity.SaveKey(Path(name + ".key"));
  }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  static std::string AskOver(RawClient& client, const std::string& request) {
    client.Send(request);
    return client.ReadAnswer();
  }
  std::string AskTls(const std::string& request, const TlsOffer& offer = {}) const {
    TlsRawClient client(edge_.port(), offer);
    return AskOver(client, request);
  }

  const test::FakeRoot folder_;
  EdgeTlsFiles files_{.certificate = Path("server.crt"), .key = Path("server.key")};
};

}  // namespace stepscope
