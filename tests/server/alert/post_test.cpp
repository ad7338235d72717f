#include "server/alert/post.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "tests/support/scripted_server.h"

namespace stepscope {
namespace {

using test::Peer;
using test::ScriptedServer;
using Addresses = std::vector<std::string>;

// A name that leads elsewhere each time it is asked for; its last answer stays.
struct Rebinding {
  Rebinding(std::initializer_list<Addresses> answers) : answers_(answers) {}

  Resolver resolver() {
    return [this](const std::string&) {
      const auto which = std::min<std::size_t>(asked++, answers_.size() - 1);
      return Result<Addresses>(answers_[which]);
    };
  }

  std::atomic<std::size_t> asked = 0;

 private:
  const std::vector<Addresses> answers_;
};

ScriptedServer::Script Say(std::string text) {
  return [text](Peer& peer) {
    while (peer.Read() && peer.Write(text)) {
    }
  };
}

struct PostTest : testing::Test {
  static AddressPolicy Allow(const std::vector<std::string>& ranges) {
    return *AddressPolicy::Read(ranges);
  }
  Result<HttpAnswer> Post(const std::string& url, NameLookup& lookup) {
    return PostToTarget(url, {.body = "x"}, {policy, "", deadline}, lookup, stop.get_token());
  }
  Result<HttpAnswer> Meet(const ScriptedServer::Script& script) {
    ScriptedServer target(script);
    NameLookup lookup;
    const SteadyTime start = SystemClock().Steady();
    auto answer = Post(target.url("/"), lookup);
    EXPECT_LT(SystemClock().Steady() - start, deadline + 2s);
    return answer;
  }

  AddressPolicy policy = Allow({"127.0.0.0/8"});
  Duration deadline = 10s;
  std::stop_source stop;
};

constexpr const char* kThanks = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nthanks";

TEST_F(PostTest, NeverConnectsWhereANameWasReboundTo) {
  ScriptedServer victim(Say(kThanks));
  ScriptedServer good(Say(kThanks), victim.port(), "127.0.0.2");
  policy = Allow({"127.0.0.2"});
  Rebinding name({{"127.0.0.2"}, {"127.0.0.1"}, {"127.0.0.2", "127.0.0.1"}, {"::ffff:127.0.0.1"}});
  NameLookup lookup(name.resolver());
  const auto url = Format("http://rebind.test:{}/", victim.port());
  EXPECT_EQ(Post(url, lookup)->status, 200);
  EXPECT_EQ(name.asked, 1u);  // what was checked is what was connected to
  for (int i = 0; i < 3; ++i) {
    const auto refused = Post(url, lookup);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Code::kInvalid);
    EXPECT_NE(refused.error().message.find("127.0.0.1 is loopback"), std::string::npos)
        << refused.error().message;
  }
  EXPECT_EQ(good.connections(), 1);
  EXPECT_EQ(victim.connections(), 0);
}

TEST_F(PostTest, TriesEachOfTheCheckedAddresses) {
  ScriptedServer target(Say(kThanks));
  Rebinding name({Addresses{"127.0.0.2", "127.0.0.1"}});  // nobody listens at the first
  NameLookup lookup(name.resolver());
  EXPECT_EQ(Post(Format("http://two.test:{}/", target.port()), lookup)->status, 200);
}

TEST_F(PostTest, TakesTheAnswerOfATargetThatNeverStopsTalking) {
  for (const char* head :
       {"HTTP/1.1 202 X\r\n\r\n", "HTTP/1.1 202 X\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 202 X\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n"}) {
    const auto answer = Meet([&](Peer& peer) {
      peer.Read();
      peer.Write(head);
      while (peer.Write(std::string(65536, 'y'))) {
      }
    });
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->status, 202);
    EXPECT_EQ(answer->body.size(), 65536u);
  }
}

TEST_F(PostTest, EndsAtItsDeadlineHoweverTheTargetDrips) {
  deadline = 200ms;
  for (const char* beginning : {"", "HTTP/1.1 200 X\r\nX: ", "HTTP/1.1 200 X\r\n\r\n"}) {
    const auto answer = Meet([&](Peer& peer) {
      peer.Write(beginning);
      while (peer.Pause(5) && peer.Write("y")) {
      }
    });
    EXPECT_EQ(answer.error().message, "not done within its time") << beginning;
  }
}

TEST_F(PostTest, NeitherDecompressesNorFollows) {
  ScriptedServer elsewhere(Say(kThanks));
  const auto redirect =
      Format("HTTP/1.1 308 X\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", elsewhere.url("/"));
  EXPECT_EQ(Meet(Say(redirect))->status, 308);
  EXPECT_EQ(elsewhere.connections(), 0);
  const auto answer = Meet(
      Say("HTTP/1.1 200 X\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08"));
  EXPECT_EQ(answer->body, "\x1f\x8b\x08");
}

// A resolver that hangs until the test is over.
struct HangingName : PostTest {
  ~HangingName() override { released->release(10); }

  std::shared_ptr<std::counting_semaphore<>> released =
      std::make_shared<std::counting_semaphore<>>(0);
  NameLookup lookup{[released = released](const std::string&) {
    released->acquire();
    return Result<Addresses>(Addresses{"127.0.0.1"});
  }};
};

TEST_F(HangingName, CountsTowardsTheDeadline) {
  deadline = 50ms;
  EXPECT_EQ(Post("http://slow.test/", lookup).error().message,
            "host 'slow.test' not found: not done within its time");
}

TEST_F(HangingName, IsLeftAtTheStop) {
  deadline = 1h;
  stop.request_stop();
  EXPECT_EQ(Post("http://slow.test/", lookup).error().message,
            "host 'slow.test' not found: stopped");
}

}  // namespace
}  // namespace stepscope
