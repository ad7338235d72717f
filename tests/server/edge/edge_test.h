#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "server/edge/body_file.h"
#include "server/edge/edge.h"
#include "tests/support/eventually.h"
#include "tests/support/raw_client.h"

namespace stepscope {

inline Reply TextReply(int status, std::string body) {
  return {.status = status, .content_type = "text/plain", .body = std::move(body), .headers = {}};
}

inline int StatusOfFault(std::string_view code) {
  if (code == "too-large") return 413;
  if (code == "busy") return 503;
  return code == "timeout" ? 408 : 400;
}

// An edge whose handlers do what the path says. Everything listens on loopback.
class EdgeTest : public testing::Test {
 protected:
  explicit EdgeTest(EdgeOptions options = {.workers = 2}) : edge_(options, Handlers()) {
    EXPECT_TRUE(edge_.Listen({.host = "127.0.0.1"}).ok());
  }
  ~EdgeTest() override { OpenGate(); }

  // Requests for /hold wait in their handlers until the gate opens, and for /stall on the thread of
  // the edge itself.
  void OpenGate() {
    gate_.Change([](Gate& gate) { gate.open = true; });
  }
  bool AreHeld(int count) const {
    return gate_.Wait({}, 10s, [&](const Gate& gate) { return gate.inside >= count; });
  }

  // The functions that answer the requests for /later, once there are so many.
  std::vector<Respond> Kept(std::size_t count) {
    kept_.Wait({}, 10s, [&](const auto& kept) { return kept.size() >= count; });
    return kept_.Change([](auto& kept) { return std::exchange(kept, {}); });
  }

  static std::string Get(const std::string& target, const std::string& more = "") {
    return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + more + "\r\n";
  }
  static std::string Post(const std::string& more, const std::string& body) {
    return "POST /echo HTTP/1.1\r\nHost: a\r\n" + more + "\r\n" + body;
  }
  std::string Ask(const std::string& request) const {
    RawClient client(edge_.port());
    client.Send(request);
    return client.ReadAnswer();
  }
  // A connection with a caller, and so one that is worth more.
  std::unique_ptr<RawClient> KnownClient() const {
    auto client = std::make_unique<RawClient>(edge_.port());
    client->Send(Get("/known"));
    EXPECT_EQ(StatusOf(client->ReadAnswer()), 200);
    return client;
  }
  std::uint64_t Timeouts(ConnectionState state) const {
    return edge_.figures().timeouts[static_cast<std::size_t>(state)];
  }
  std::uint64_t Count(ConnectionState state) const {
    return edge_.figures().connections[static_cast<std::size_t>(state)];
  }

 private:
  struct Gate {
    int inside = 0;
    bool open = false;
  };

  EdgeHandlers Handlers();
  HeadVerdict Check(Request& head, bool asked);
  Reply Answer(const Request& request);
  static Reply SumOf(const Request& request);
  static bool AnswerAtOnce(const Request& request, const Respond& respond);
  void WaitAtGate();

  Guarded<Gate> gate_;
  Guarded<std::vector<Respond>> kept_;

 protected:
  Edge edge_;
};

inline EdgeHandlers EdgeTest::Handlers() {
  return {.check_head = [this](Request& head) { return Check(head, false); },
          .ask = [this](Request& head) { return Check(head, true); },
          .answer =
              [this](const Request& request, const Respond& respond, MayWait may_wait) {
                if (may_wait == MayWait::kNo) return AnswerAtOnce(request, respond);
                if (request.path == "/later") {
                  kept_.Change([&](auto& kept) { kept.push_back(respond); });
                } else {
                  respond(Answer(request));
                }
                return true;
              },
          .fault =
              [](const Request&, std::string code, std::string detail) {
                return TextReply(StatusOfFault(code), code + ": " + detail);
              }};
}

inline void EdgeTest::WaitAtGate() {
  gate_.Change([](Gate& gate) { gate.inside++; });
  gate_.Wait({}, 10s, [](const Gate& gate) { return gate.open; });
}

inline HeadVerdict EdgeTest::Check(Request& head, bool asked) {
  HeadVerdict verdict{.most_body = 4 * 1024 * 1024};
  if (head.path == "/stall") WaitAtGate();
  if (head.path == "/ask" && !asked) verdict.kind = HeadVerdict::kAsk;
  if (head.path == "/refuse") {
    verdict.kind = HeadVerdict::kRefuse;
    verdict.refusal = TextReply(403, "refused");
  }
  if (head.path == "/hold" && head.query == "most") verdict.lane = Lane::kMost;
  if (head.path == "/later" && head.query == "soon") verdict.answer_within = 200ms;
  verdict.at_once = head.path == "/now";
  if (head.path == "/file") verdict.most_body = std::size_t{1} << 30, verdict.to_file = true;
  if (head.path == "/known") {  // whoever it is: the edge does not look
    const auto owner = std::make_shared<int>(0);
    head.caller = {owner, reinterpret_cast<const Caller*>(owner.get())};
  }
  return verdict;
}

// Answers /now on the edge's thread, unless the query says that this would take a wait.
inline bool EdgeTest::AnswerAtOnce(const Request& request, const Respond& respond) {
  if (request.query == "throws") throw std::runtime_error("a secret");
  if (request.query == "waits") return false;
  respond(TextReply(200, "at once: " + request.body));
  return true;
}

// How many bytes the body has, in memory and in all, and a sum that depends on their order.
inline Reply EdgeTest::SumOf(const Request& request) {
  std::vector<char> piece(100'000);
  const auto read = ReadBody(request);
  std::uint64_t bytes = 0, sum = 0;
  for (std::size_t got = 0; (got = read(piece)) > 0; bytes += got) {
    for (std::size_t i = 0; i < got; ++i) sum = sum * 31 + static_cast<unsigned char>(piece[i]);
  }
  return TextReply(200, Format("{} {} {}", request.body.size(), bytes, sum));
}

inline Reply EdgeTest::Answer(const Request& request) {
  if (request.path == "/echo") return TextReply(200, request.body);
  if (request.path == "/throws") throw std::runtime_error("a secret");
  if (request.path == "/large") return TextReply(200, std::string(std::stoul(request.query), 'x'));
  if (request.path == "/peer") {
    return TextReply(200, Format("{} {} {}", request.peer, request.secure, request.certificate));
  }
  if (request.path == "/hold") WaitAtGate();
  if (request.path == "/file") return SumOf(request);
  return TextReply(200, request.method + " " + request.path + "?" + request.query);
}

}  // namespace stepscope
