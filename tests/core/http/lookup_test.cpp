#include "core/http/lookup.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/http/client.h"
#include "tests/support/scripted_server.h"

namespace stepscope {
namespace {

using Addresses = std::vector<std::string>;

// A resolver that answers when the test lets it.
struct SlowResolver {
  std::counting_semaphore<1000> answers{0};
  std::atomic<int> asked = 0;

  Resolver resolver(const std::shared_ptr<SlowResolver>& self) {
    return [self](const std::string&) -> Result<Addresses> {
      ++self->asked;
      self->answers.acquire();
      return Addresses{"192.0.2.1"};
    };
  }
};

struct NameLookupTest : testing::Test {
  ~NameLookupTest() override { slow->answers.release(100); }

  static WaitLimit Within(Duration time) { return {SystemClock().Steady() + time}; }

  std::shared_ptr<SlowResolver> slow = std::make_shared<SlowResolver>();
  NameLookup lookup{slow->resolver(slow)};
};

TEST_F(NameLookupTest, FindsThisMachine) {
  const auto addresses = NameLookup().Find("localhost", Within(30s));
  ASSERT_TRUE(addresses.ok()) << addresses.error().message;
  EXPECT_FALSE(addresses->empty());
}

TEST_F(NameLookupTest, AsksNobodyForANumber) {
  EXPECT_EQ(*lookup.Find("192.0.2.7", Within(0s)), Addresses{"192.0.2.7"});
  EXPECT_EQ(*lookup.Find("2001:db8::1", Within(0s)), Addresses{"2001:db8::1"});
  EXPECT_EQ(slow->asked, 0);
}

TEST_F(NameLookupTest, EndsAtItsDeadlineAlthoughTheResolverHangs) {
  const auto addresses = lookup.Find("slow.test", Within(20ms));
  ASSERT_FALSE(addresses.ok());
  EXPECT_EQ(addresses.error().message, "host 'slow.test' not found: not done within its time");
}

TEST_F(NameLookupTest, TakesWhatCameTooLateForTheOneBefore) {
  EXPECT_FALSE(lookup.Find("slow.test", Within(10ms)).ok());
  EXPECT_FALSE(lookup.Find("slow.test", Within(10ms)).ok());
  slow->answers.release();
  EXPECT_EQ(*lookup.Find("slow.test", Within(30s)), Addresses{"192.0.2.1"});
  EXPECT_EQ(slow->asked, 1);
}

TEST_F(NameLookupTest, AsksAgainForWhatItHasGivenOut) {
  slow->answers.release(2);
  EXPECT_TRUE(lookup.Find("a.test", Within(30s)).ok());
  EXPECT_TRUE(lookup.Find("a.test", Within(30s)).ok());
  EXPECT_EQ(slow->asked, 2);
}

TEST_F(NameLookupTest, LetsOnlyAFewHang) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(lookup.Find(Format("slow-{}.test", i), Within(1ms)).ok());
  }
  EXPECT_EQ(lookup.Find("one-more.test", Within(30s)).error().message,
            "host 'one-more.test' not found: 8 lookups hang already");
  EXPECT_LE(slow->asked, 8);
}

TEST_F(NameLookupTest, SaysThatANameHasNoAddress) {
  NameLookup none([](const std::string&) { return Result<Addresses>(Addresses{}); });
  EXPECT_EQ(none.Find("empty.test", Within(30s)).error().message,
            "host 'empty.test' has no address");
}

TEST_F(NameLookupTest, MayGoWhileALookupHangs) {
  auto own = std::make_unique<NameLookup>(slow->resolver(slow));
  EXPECT_FALSE(own->Find("slow.test", Within(1ms)).ok());
  own.reset();
}

TEST_F(NameLookupTest, BoundsWhatAClientWaitsForAName) {
  auto client = HttpClient::Make(*ParseUrl("http://slow.test/"),
                                 {.connect_limit = 20ms, .resolve = slow->resolver(slow)});
  const auto answer = (*client)->Send({});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, "host 'slow.test' not found: not done within its time");
}

TEST_F(NameLookupTest, LetsAClientStopWhileItWaits) {
  auto client = HttpClient::Make(*ParseUrl("http://slow.test/"),
                                 {.connect_limit = 1h, .resolve = slow->resolver(slow)});
  (*client)->Stop();
  EXPECT_EQ((*client)->Send({}).error().message, "host 'slow.test' not found: stopped");
}

TEST_F(NameLookupTest, GivesAnAddressThatIsDeadOnlyItsShareOfTheTime) {
  test::ScriptedServer server([](test::Peer& peer) {
    while (peer.Read()) peer.Reply(200, "alive");
  });
  // The first two addresses do not answer; the third one's answer is used all the same.
  auto client = HttpClient::Make(
      *ParseUrl(Format("http://several.test:{}/", server.port())),
      {.connect_limit = 3s, .resolve = [](const std::string&) -> Result<Addresses> {
         return Addresses{"192.0.2.1", "not-an-address", "127.0.0.1"};
       }});
  const auto answer = (*client)->Send({.method = "GET"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "alive");
}

}  // namespace
}  // namespace stepscope
