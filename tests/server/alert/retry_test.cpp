#include "server/alert/retry.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

Attempt Answered(int status) {
  Attempt attempt;
  attempt.status = status;
  return attempt;
}

Json Before(std::initializer_list<int> statuses) {
  Json attempts = Json::array();
  for (const int status : statuses) attempts.push_back(ToJson(Answered(status)));
  return attempts;
}

TEST(Retry, DeliveredBySuccess) {
  for (const int status : {200, 201, 204, 299}) {
    EXPECT_EQ(Decide(Answered(status), Before({}), 1).state, "delivered");
  }
}

TEST(Retry, WaitsLongerEachTimeAndGivesUpAfterADay) {
  const Duration waits[] = {5s, 30s, 5min, 30min, 2h, 5h, 10h};
  Json before = Json::array();
  for (const Duration wait : waits) {
    const auto decision = Decide(Answered(503), before, 1);
    EXPECT_EQ(decision.state, "ready");
    EXPECT_EQ(decision.again_in, wait);
    before.push_back(ToJson(Answered(503)));
  }
  EXPECT_EQ(Decide(Answered(503), before, 1).state, "dead");
  EXPECT_EQ(Decide(Answered(0), Before({}), 1.2).again_in, 6s);
}

TEST(Retry, WaitsAsLongAsTheTargetAsksFor) {
  Attempt busy = Answered(429);
  busy.retry_after = 90s;
  EXPECT_EQ(Decide(busy, Before({}), 1).again_in, 90s);
  EXPECT_EQ(Decide(busy, Before({429, 429}), 1).again_in, 5min);
}

TEST(Retry, RedirectsAreNoSuccess) {
  EXPECT_EQ(Decide(Answered(302), Before({}), 1).state, "ready");
}

TEST(Retry, GoneEndsTheWebhook) {
  const auto decision = Decide(Answered(410), Before({}), 1);
  EXPECT_EQ(decision.state, "dead");
  EXPECT_TRUE(decision.disable);
}

TEST(Retry, ThreeRefusalsEndTheMessage) {
  EXPECT_EQ(Decide(Answered(404), Before({404}), 1).state, "ready");
  EXPECT_EQ(Decide(Answered(404), Before({404, 503, 400}), 1).state, "dead");
  for (const int passing : {408, 425, 429}) {
    EXPECT_EQ(Decide(Answered(passing), Before({404, 404}), 1).state, "ready");
  }
}

TEST(Attempt, IsLoggedWithItsAnswerMadeSafe) {
  Attempt attempt = Answered(500);
  attempt.at = FromMicros(1'795'205'620'500'000);
  attempt.took = 12'400us;
  attempt.answer = "bad\x1b[31m\n" + std::string(5000, 'x');
  const Json json = ToJson(attempt);
  EXPECT_EQ(json["at"], "2026-11-20T20:13:40.500000Z");
  EXPECT_EQ(json["duration_ms"], 12.4);
  const auto answer = json["answer"].get<std::string>();
  EXPECT_TRUE(answer.starts_with("bad\\x1b[31m\\x0a")) << answer.substr(0, 40);
  EXPECT_LT(answer.size(), 1100u);
  EXPECT_TRUE(json["error"].is_null());
}

}  // namespace
}  // namespace stepscope
