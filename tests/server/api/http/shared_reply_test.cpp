// One reply for all who ask the same.

#include "server/api/http/shared_reply.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>

#include "server/access/caller.h"
#include "tests/support/fake_clock.h"

namespace stepscope {
namespace {

class SharedReplyTest : public ::testing::Test {
 protected:
  // A call that counts how often it was computed and answers with that number.
  Route Counting(int status = 200, std::size_t padding = 0) {
    Route route;
    route.handler = [this, status, padding](const Request&, const PathParameters&) {
      return Reply{.status = status,
                   .body = std::to_string(++computed_) + std::string(padding, ' '),
                   .headers = {}};
    };
    return Shared(3s, clock_, std::move(route));
  }
  static Request Asking(const std::string& query, std::vector<std::string> scopes = {}) {
    Request request;
    request.path = "/api/v1/fleet";
    request.query = query;
    auto caller = std::make_shared<Caller>();
    caller->scopes = std::move(scopes);
    request.caller = caller;
    return request;
  }

  test::FakeClock clock_;
  std::atomic<int> computed_ = 0;
};

TEST_F(SharedReplyTest, ComesAgainUntilItIsOld) {
  const Route route = Counting();
  EXPECT_EQ(route.handler(Asking("by=user"), {}).body, "1");
  clock_.Advance(2s);
  EXPECT_EQ(route.handler(Asking("by=user"), {}).body, "1");
  clock_.Advance(1s);
  EXPECT_EQ(route.handler(Asking("by=user"), {}).body, "2");
}

TEST_F(SharedReplyTest, IsNeverThatOfAnotherQuestionOrAnotherScope) {
  const Route route = Counting();
  EXPECT_EQ(route.handler(Asking("by=user"), {}).body, "1");
  EXPECT_EQ(route.handler(Asking("by=job"), {}).body, "2");
  EXPECT_EQ(route.handler(Asking("by=user", {"mine-*"}), {}).body, "3");
  EXPECT_EQ(route.handler(Asking("by=user", {"mine-", "*"}), {}).body, "4");
  Request as_table = Asking("by=user");
  as_table.headers["accept"] = "text/csv";
  EXPECT_EQ(route.handler(as_table, {}).body, "5");
}

TEST_F(SharedReplyTest, AFaultOrAHugeReplyIsNotKept) {
  const Route faulty = Counting(503);
  EXPECT_EQ(faulty.handler(Asking(""), {}).body, "1");
  EXPECT_EQ(faulty.handler(Asking(""), {}).body, "2");
  const Route huge = Counting(200, 2 << 20);
  EXPECT_EQ(huge.handler(Asking(""), {}).body[0], '3');
  EXPECT_EQ(huge.handler(Asking(""), {}).body[0], '4');
}

TEST_F(SharedReplyTest, ACallThatThrowsLeavesThePlaceFree) {
  Route broken;
  broken.handler = [this](const Request&, const PathParameters&) -> Reply {
    if (++computed_ == 1) throw std::runtime_error("a fault of a library");
    return {.body = "well", .headers = {}};
  };
  const Route route = Shared(3s, clock_, std::move(broken));
  EXPECT_THROW(route.handler(Asking(""), {}), std::runtime_error);
  EXPECT_EQ(route.handler(Asking(""), {}).body, "well");
}

TEST_F(SharedReplyTest, ThousandsOfQuestionsDoNotPileUp) {
  const Route route = Counting();
  for (int i = 0; i < 5'000; ++i) route.handler(Asking(std::to_string(i)), {});
  EXPECT_EQ(route.handler(Asking("0"), {}).body, "1") << "one of the first 32";
  EXPECT_EQ(route.handler(Asking("4000"), {}).body, "5001") << "there was no place for it";
  clock_.Advance(3s);
  route.handler(Asking("4000"), {});
  EXPECT_EQ(route.handler(Asking("4000"), {}).body, "5002") << "old ones gave up their places";
}

TEST_F(SharedReplyTest, ThoseThatAskAtOnceWaitForOneComputation) {
  std::latch inside(1), go_on(1);
  Route slow;
  slow.handler = [&](const Request&, const PathParameters&) {
    ++computed_;
    inside.count_down();
    go_on.wait();
    return Reply{.body = "it", .headers = {}};
  };
  const Route route = Shared(3s, clock_, std::move(slow));
  const std::vector<Route> copies(2, route);  // the server copies them, too
  std::vector<std::string> answers(20);
  std::vector<std::jthread> callers;
  callers.emplace_back([&] { answers[0] = route.handler(Asking(""), {}).body; });
  inside.wait();
  for (std::size_t i = 1; i < answers.size(); ++i) {
    callers.emplace_back([&, i] { answers[i] = copies[i % 2].handler(Asking(""), {}).body; });
  }
  go_on.count_down();
  callers.clear();
  EXPECT_EQ(answers, std::vector<std::string>(20, "it"));
  EXPECT_EQ(computed_, 1);
}

}  // namespace
}  // namespace stepscope
