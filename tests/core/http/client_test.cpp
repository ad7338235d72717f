#include "core/http/client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/base/clock.h"
#include "tests/support/scripted_server.h"

namespace stepscope {
namespace {

using test::Peer;
using test::ScriptedServer;

std::unique_ptr<HttpClient> ClientOf(const ScriptedServer& server, HttpClientOptions options = {}) {
  auto client = HttpClient::Make(*ParseUrl(server.url("/base")), std::move(options));
  EXPECT_TRUE(client.ok());
  return std::move(*client);
}

void ServeAll(Peer& peer, std::string_view body) {
  while (peer.Read()) peer.Reply(200, body);
}

TEST(HttpClient, SendsMethodTargetHeadersAndBody) {
  std::optional<test::SeenRequest> seen;
  ScriptedServer server([&](Peer& peer) {
    seen = peer.Read();
    peer.Reply(201, "made", "X-Note: yes\r\n");
    peer.WaitClosed();
  });
  auto client = ClientOf(server);
  const auto answer = client->Send({.target = "/a?b=%20c",
                                    .headers = {{"Content-Type", "text/x"}, {"X-Mine", "1"}},
                                    .body = std::string("a\0b", 3)});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "made");
  EXPECT_EQ(answer->Header("x-note"), "yes");
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->head.starts_with("POST /a?b=%20c HTTP/1.1\r\n"));
  EXPECT_NE(seen->head.find(Format("Host: 127.0.0.1:{}", server.port())), std::string::npos);
  EXPECT_NE(seen->head.find("X-Mine: 1"), std::string::npos);
  EXPECT_EQ(seen->body, std::string("a\0b", 3));
}

TEST(HttpClient, ReadsALargeBodyAsItIsSent) {
  std::optional<test::SeenRequest> seen;
  ScriptedServer server([&](Peer& peer) {
    while (auto request = peer.Read()) {
      seen = std::move(request);
      peer.Reply(200, "ok");
    }
  });
  auto client = ClientOf(server);
  std::string body(3'000'000, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i / 7);
  const auto read = [&](std::uint64_t at, std::span<char> into) {
    return body.copy(into.data(), std::min<std::size_t>(into.size(), 70'001), std::size_t(at));
  };
  for (int i = 0; i < 2; ++i) {
    const auto answer = client->Send({.read_body = read, .body_bytes = body.size()});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(seen->body, body);
  }
  EXPECT_EQ(server.connections(), 1);
  const auto shorter = client->Send({.read_body = read, .body_bytes = body.size() + 1});
  EXPECT_EQ(shorter.error().code, Code::kInvalid) << "the file shrank";
}

TEST(HttpClient, KeepsItsConnection) {
  ScriptedServer server([](Peer& peer) { ServeAll(peer, "ok"); });
  auto client = ClientOf(server);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client->Send({.method = "GET"}).ok());
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, ConnectsAgainAfterTheServerClosedItsConnection) {
  ScriptedServer server([](Peer& peer) {
    if (peer.Read()) peer.Reply(200, "once");
  });
  auto client = ClientOf(server);
  for (int i = 0; i < 3; ++i) {
    const auto answer = client->Send({.body = "x"});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
  }
  EXPECT_EQ(server.connections(), 3);
}

TEST(HttpClient, DropsAConnectionThatSaidMoreThanItsAnswer) {
  ScriptedServer server([](Peer& peer) {
    while (peer.Read())
      peer.Write("HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 X\r\n");
  });
  auto client = ClientOf(server);
  for (int i = 0; i < 2; ++i) {
    const auto answer = client->Send({.body = "x"});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
  }
  EXPECT_EQ(server.connections(), 2);
}

TEST(HttpClient, SaysThatNobodyListens) {
  std::string url;
  {
    url = ScriptedServer([](Peer&) {}).url();
  }
  auto client = HttpClient::Make(*ParseUrl(url));
  const auto answer = (*client)->Send({});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, "cannot connect: Connection refused");
}

TEST(HttpClient, NamesAHostThatIsNotFound) {
  auto client = HttpClient::Make(*ParseUrl("http://no-such-host.invalid"));
  const auto answer = (*client)->Send({});
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.error().message.find("no-such-host.invalid"), std::string::npos);
}

TEST(HttpClient, StopsARequestInFlightAndEveryLaterOne) {
  std::atomic<bool> arrived = false;
  ScriptedServer server([&](Peer& peer) {
    peer.Read();
    arrived = true;
    arrived.notify_all();
    peer.WaitClosed();
  });
  auto client = ClientOf(server);
  std::thread stopper([&] {
    arrived.wait(false);
    client->Stop();
  });
  const auto answer = client->Send({.body = "x"});
  stopper.join();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, "stopped");
  EXPECT_EQ(client->Send({.body = "x"}).error().message, "stopped");
}

TEST(HttpClient, ConnectsToAPinnedAddressAndKeepsTheName) {
  std::optional<test::SeenRequest> seen;
  ScriptedServer server([&](Peer& peer) {
    seen = peer.Read();
    peer.Reply(200, "");
    peer.WaitClosed();
  });
  {
    auto client = HttpClient::Make(*ParseUrl(Format("http://pinned.invalid:{}/", server.port())),
                                   {.addresses = {"127.0.0.9", "127.0.0.1"}});
    ASSERT_TRUE((*client)->Send({.body = "x"}).ok());
  }
  EXPECT_NE(seen->head.find("Host: pinned.invalid"), std::string::npos);
  EXPECT_FALSE(HttpClient::Make(*ParseUrl("http://h"), {.addresses = {"not-an-address"}}).ok());
}

TEST(HttpAnswer, ReadsHowLongItIsToBeLeftAloneWithinReason) {
  const std::pair<const char*, Duration> said[] = {
      {"120", 2min}, {" 7 ", 7s},  {"999999", 1h}, {"99999999999999999999", 0s},
      {"-5", 0s},    {"soon", 0s}, {"", 0s},       {"Wed, 21 Oct 2026 07:28:00 GMT", 0s}};
  for (const auto& [value, time] : said) {
    EXPECT_EQ((HttpAnswer{503, {{"retry-after", value}}, ""}).RetryAfter(1h), time) << value;
  }
}

TEST(HttpClient, IgnoresAProxyOfTheEnvironment) {
  ScriptedServer proxy([](Peer& peer) { ServeAll(peer, "proxied"); });
  ScriptedServer server([](Peer& peer) { ServeAll(peer, "direct"); });
  setenv("http_proxy", proxy.url().c_str(), 1);
  const auto answer = ClientOf(server)->Send({.body = "x"});
  unsetenv("http_proxy");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->body, "direct");
  EXPECT_EQ(proxy.connections(), 0);
}

TEST(HttpClient, RefusesRequestsThatWouldSplit) {
  ScriptedServer server([](Peer& peer) { ServeAll(peer, ""); });
  auto client = ClientOf(server);
  EXPECT_EQ(client->Send({.headers = {{"X", "a\r\nY: b"}}}).error().code, Code::kInvalid);
  EXPECT_EQ(client->Send({.headers = {{"X\n", "a"}}}).error().code, Code::kInvalid);
  EXPECT_EQ(client->Send({.target = "/a b"}).error().code, Code::kInvalid);
  EXPECT_EQ(client->Send({.target = "http://other/"}).error().code, Code::kInvalid);
  EXPECT_EQ(client->Send({.method = "GET / HTTP/1.1\r\nX:"}).error().code, Code::kInvalid);
  EXPECT_EQ(server.connections(), 0);
}

}  // namespace
}  // namespace stepscope
