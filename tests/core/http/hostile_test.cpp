// Hostile servers: each script over plain HTTP and over TLS.

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "core/http/client.h"
#include "tests/support/fake_root.h"
#include "tests/support/identity.h"
#include "tests/support/scripted_server.h"

namespace stepscope {
namespace {

using test::Peer;
using test::ScriptedServer;

constexpr const char* kLate = "not done within its time";
constexpr const char* kLarge = "the answer is larger than allowed";

class HostileServer : public testing::TestWithParam<bool> {
 protected:
  HostileServer() { identity_.Save(folder_.path() + "/ca.pem"); }

  bool secure() const { return GetParam(); }

  ScriptedServer Serve(ScriptedServer::Script script) const {
    return ScriptedServer([this, script = std::move(script)](Peer& peer) {
      if (!secure() || peer.StartTls(context_.get())) script(peer);
    });
  }

  std::unique_ptr<HttpClient> ClientOf(const ScriptedServer& server,
                                       HttpClientOptions options = {}) const {
    options.tls.ca_file = folder_.path() + "/ca.pem";
    const auto url = Format("{}://127.0.0.1:{}/base", secure() ? "https" : "http", server.port());
    auto client = HttpClient::Make(*ParseUrl(url), std::move(options));
    EXPECT_TRUE(client.ok());
    return std::move(*client);
  }

  // The client's result, "answered 200" or the error; at most ten seconds after the limit, as a
  // sanitizer on a busy machine needs.
  std::string Meet(ScriptedServer::Script script, HttpClientOptions options = {},
                   std::size_t body_bytes = 1) const {
    ScriptedServer server = Serve(std::move(script));
    const auto client = ClientOf(server, options);
    const SteadyTime start = SystemClock().Steady();
    const auto answer = client->Send({.body = std::string(body_bytes, 'x')});
    EXPECT_LT(SystemClock().Steady() - start, options.request_limit + 10s);
    if (answer.ok()) return Format("answered {}", answer->status);
    EXPECT_EQ(answer.error().code, Code::kUnavailable);
    return answer.error().message;
  }

  test::FakeRoot folder_;
  test::Identity identity_{"right.test"};
  test::TlsContext context_ = test::ServerContext(identity_);
};
INSTANTIATE_TEST_SUITE_P(Http, HostileServer, testing::Values(false, true),
                         [](const auto& of) { return of.param ? "Tls" : "Plain"; });

// Sends byte after byte, without an end.
ScriptedServer::Script Drip(std::string beginning) {
  return [beginning](Peer& peer) {
    peer.Write(beginning);
    while (peer.Pause(5) && peer.Write("y")) {
    }
  };
}

// Sends the piece for ever, as fast as it is taken.
ScriptedServer::Script Flood(std::string beginning, std::string piece) {
  return [beginning, piece](Peer& peer) {
    peer.Write(beginning);
    while (peer.Write(piece)) {
    }
  };
}

ScriptedServer::Script Say(std::string text) {
  return [text](Peer& peer) {
    peer.Read();
    peer.Write(text);
  };
}

TEST_P(HostileServer, EndsAtTheDeadlineHoweverItDrips) {
  for (const char* beginning :
       {"", "HTTP/1.1 200 X\r\nX: ", "HTTP/1.1 200 X\r\nContent-Length: 60000\r\n\r\n",
        "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n"}) {
    EXPECT_EQ(Meet(Drip(beginning), {.request_limit = 200ms}), kLate) << beginning;
  }
}

TEST_P(HostileServer, EndsAtTheDeadlineWhenNothingIsReadOrAnswered) {
  const ScriptedServer::Script silent = [](Peer& peer) {
    while (peer.Pause(1000)) {
    }
  };
  EXPECT_EQ(Meet(silent, {.request_limit = 200ms}, 32 << 20), kLate);
}

TEST_P(HostileServer, CutsAnEndlessHead) {
  EXPECT_EQ(Meet(Flood("HTTP/1.1 200 X\r\nX: ", std::string(65536, 'y'))), kLarge);
  EXPECT_EQ(Meet(Flood("HTTP/1.1 200 X\r\n", "X: y\r\n")), kLarge);
  EXPECT_EQ(Meet(Flood("", "HTTP/1.1 100 Continue\r\n\r\n")), kLarge);
}

TEST_P(HostileServer, CutsAnEndlessBodyHoweverItIsFramed) {
  for (const char* head :
       {"HTTP/1.1 200 X\r\n\r\n", "HTTP/1.1 200 X\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n"}) {
    EXPECT_EQ(Meet(Flood(head, std::string(65536, 'y'))), kLarge) << head;
  }
}

TEST_P(HostileServer, GivesTheBeginningOfALongBodyToWhomThatIsEnough) {
  for (const char* head :
       {"HTTP/1.1 200 X\r\n\r\n", "HTTP/1.1 200 X\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n"}) {
    ScriptedServer server = Serve(Flood(head, std::string(65536, 'y')));
    const auto client = ClientOf(server, {.answer_bytes = 1000, .cut_answer = true});
    for (int i = 0; i < 2; ++i) {
      const auto answer = client->Send({.body = "x"});
      ASSERT_TRUE(answer.ok()) << answer.error().message;
      EXPECT_EQ(answer->status, 200);
      EXPECT_EQ(answer->body, std::string(1000, 'y'));
    }
    EXPECT_EQ(server.connections(), 2);
  }
  EXPECT_EQ(Meet(Flood("HTTP/1.1 200 X\r\n", "X: y\r\n"), {.cut_answer = true}), kLarge);
}

TEST_P(HostileServer, NeverDecompresses) {
  const std::string bomb = "\x1f\x8b not inflated";
  ScriptedServer server = Serve([&](Peer& peer) {
    while (peer.Read()) peer.Reply(200, bomb, "Content-Encoding: gzip\r\n");
  });
  const auto answer = ClientOf(server)->Send({.body = "x"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, bomb);
}

TEST_P(HostileServer, IsNotFollowedElsewhere) {
  ScriptedServer elsewhere([](Peer& peer) { peer.WaitClosed(); });
  for (const int status : {301, 302, 303, 307, 308}) {
    const auto redirect = Format("HTTP/1.1 {} X\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n",
                                 status, elsewhere.url("/"));
    EXPECT_EQ(Meet(Say(redirect)), Format("answered {}", status));
  }
  EXPECT_EQ(elsewhere.connections(), 0);
}

TEST_P(HostileServer, IsHeardWhenItRefusesABodyThatItDoesNotRead) {
  // The script reads nothing, so only an answer that is noticed while writing ends this.
  ScriptedServer server = Serve([&](Peer& peer) {
    peer.Reply(413, "too large", "Connection: close\r\n");
    while (peer.Pause(1000)) {
    }
  });
  const auto answer = ClientOf(server)->Send({.body = std::string(32 << 20, 'x')});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 413);
}

TEST_P(HostileServer, LeavesNoHalfAnswerBehind) {
  const std::string half = "HTTP/1.1 200 X\r\nContent-Length: 10\r\n\r\nhalf";
  EXPECT_NE(Meet(Say(half)).find("closed"), std::string::npos);
  EXPECT_NE(Meet(Say("")).find("closed"), std::string::npos);
  const auto reset = Meet([&](Peer& peer) {
    peer.Read();
    peer.Write(half);
    peer.Reset();
  });
  EXPECT_FALSE(reset.starts_with("answered")) << reset;
}

TEST_P(HostileServer, GivesItsSecondAnswerToNobody) {
  ScriptedServer server = Serve([](Peer& peer) {
    while (peer.Read()) {
      peer.Write(
          "HTTP/1.1 200 X\r\nContent-Length: 4\r\n\r\ntrueHTTP/1.1 200 X\r\nContent-Length: 3"
          "\r\n\r\nlie");
    }
  });
  const auto client = ClientOf(server);
  for (int i = 0; i < 3; ++i) {
    const auto answer = client->Send({.body = "x"});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->body, "true");
  }
  EXPECT_EQ(server.connections(), 3);
}

TEST_P(HostileServer, IsToldApartFromHttp) {
  for (const char* text : {"SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 abc\r\n\r\n", "\r\n\r\n",
                           "<html></html>\r\n\r\n", "HTTP/9.9 200 X\r\n\r\n"}) {
    const auto error = Meet(Say(text));
    EXPECT_FALSE(error.starts_with("answered")) << error;
  }
}

TEST_P(HostileServer, HasNoEffectByBrokenNumbers) {
  for (const char* head :
       {"Content-Length: abc", "Content-Length: -5", "Content-Length: 99999999999999999999999",
        "Transfer-Encoding: chunked\r\n\r\n-2\r\n",
        "Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n"}) {
    ScriptedServer server = Serve(Say(Format("HTTP/1.1 200 X\r\n{}\r\n\r\nbody", head)));
    const auto answer = ClientOf(server)->Send({.body = "x"});
    EXPECT_LE(answer.ok() ? answer->body.size() : 0u, 65536u);
  }
}

}  // namespace
}  // namespace stepscope
