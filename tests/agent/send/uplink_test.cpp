#include "agent/send/uplink.h"

#include <gtest/gtest.h>

#include "core/base/guarded.h"
#include "core/base/text.h"
#include "tests/support/fake_root.h"
#include "tests/support/identity.h"
#include "tests/support/scripted_server.h"

namespace stepscope {
namespace {

using test::Peer;
using test::ScriptedServer;

std::string ErrorOf(const UplinkOptions& options) {
  const auto uplink = Uplink::Make(options);
  if (uplink) return "";
  EXPECT_EQ(uplink.error().code, Code::kInvalid);
  return uplink.error().message;
}

TEST(Uplink, RefusesWhatItCannotUse) {
  EXPECT_NE(ErrorOf({.server = "ftp://h"}), "");
  EXPECT_NE(ErrorOf({.server = "http://h/?q=1"}), "");
  EXPECT_NE(ErrorOf({.server = "http://h", .token_file = "/nowhere/token"}), "");
  EXPECT_NE(ErrorOf({.server = "https://h", .ca_file = "/nowhere/ca.pem"}).find("/nowhere/ca.pem"),
            std::string::npos);
  EXPECT_EQ(ErrorOf({.server = "https://h", .cert_file = "c"}),
            "--cert and --key: give both or none");
  EXPECT_EQ(ErrorOf({.server = "http://h", .cert_file = "c", .key_file = "k"}),
            "--cert: URL 'http://h' is not https://");
}

TEST(Uplink, KnowsThePageOfAJob) {
  EXPECT_EQ((*Uplink::Make({.server = "http://h:81/base/"}))->PageOf("j"),
            "http://h:81/base/jobs/j");
}

TEST(Uplink, SendsNoTokenInTheClearToAnotherMachineUnasked) {
  for (const char* server : {"http://h", "http://10.0.0.1:8080", "http://[2001:db8::1]",
                             "http://localhost.evil.org", "http://127.evil.org"}) {
    EXPECT_EQ(ErrorOf({.server = server, .token = "secret"}),
              Format("--server: the token would travel in the clear to '{}'; use https://, or "
                     "--insecure-http on a network that you trust",
                     server));
    EXPECT_EQ(ErrorOf({.server = server, .token = "secret", .insecure_http = true}), "");
    EXPECT_EQ(ErrorOf({.server = server}), "");
  }
  for (const char* server :
       {"https://h", "http://127.0.0.1:1", "http://localhost", "http://[::1]"}) {
    EXPECT_EQ(ErrorOf({.server = server, .token = "secret"}), "") << server;
  }
}

// Accepts one token and refuses every other; records those it gets.
struct GuardedService {
  std::vector<std::string> Seen() const {
    return seen.Read([](const auto& tokens) { return tokens; });
  }
  void Serve(Peer& peer) {
    while (const auto request = peer.Read()) {
      const std::string_view head = request->head;
      const auto at = head.find("Authorization: Bearer ");
      const auto token =
          at == head.npos ? "" : head.substr(at + 22, head.find("\r\n", at) - at - 22);
      seen.Change([&](auto& tokens) { tokens.emplace_back(token); });
      peer.Reply(token == "good" ? 200 : refusal, "");
    }
  }

  int refusal = 401;
  Guarded<std::vector<std::string>> seen;
  ScriptedServer server{[this](Peer& peer) { Serve(peer); }};
};

struct UplinkTokenTest : testing::Test {
  std::unique_ptr<Uplink> Make() {
    return std::move(
        *Uplink::Make({.server = service.server.url(), .token_file = folder.path() + "/token"}));
  }

  test::FakeRoot folder;
  GuardedService service;
};

TEST_F(UplinkTokenTest, ShowsItWithEveryPush) {
  folder.Write("/token", "good\n");
  const auto uplink = Make();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(uplink->Post("x")->status, 200);
  EXPECT_EQ(service.Seen(), (std::vector<std::string>{"good", "good"}));
}

TEST_F(UplinkTokenTest, TriesAReplacedOneAtOnce) {
  for (const int refusal : {401, 403}) {
    service.refusal = refusal;
    folder.Write("/token", "old");
    const auto uplink = Make();
    EXPECT_EQ(uplink->Post("x")->status, refusal);
    folder.Write("/token", "good");
    EXPECT_EQ(uplink->Post("x")->status, 200);
  }
  EXPECT_EQ(service.Seen(), (std::vector<std::string>{"old", "old", "good", "old", "old", "good"}));
}

TEST_F(UplinkTokenTest, DoesNotAskAgainWithTheSame) {
  folder.Write("/token", "old");
  const auto uplink = Make();
  EXPECT_EQ(uplink->Post("x")->status, 401);
  folder.Write("/token", "not one token");
  EXPECT_EQ(uplink->Post("x")->status, 401);
  EXPECT_EQ(service.Seen().size(), 2u);
}

TEST_F(UplinkTokenTest, StaysAtHomeWhenTheServerIsNotTheOneItIs) {
  const test::Identity identity("right.test");
  const auto context = test::ServerContext(identity);
  ScriptedServer stranger([&](Peer& peer) {
    if (peer.StartTls(context.get())) service.Serve(peer);
  });
  folder.Write("/token", "good");
  const auto uplink = Uplink::Make({.server = Format("https://127.0.0.1:{}", stranger.port()),
                                    .token_file = folder.path() + "/token"});
  ASSERT_TRUE(uplink.ok()) << uplink.error().message;
  EXPECT_EQ((*uplink)->Post("x").error().message,
            "the certificate of '127.0.0.1' is not trusted (self-signed certificate): give its CA "
            "with --ca-file FILE");
  EXPECT_TRUE(service.Seen().empty());
}

}  // namespace
}  // namespace stepscope
