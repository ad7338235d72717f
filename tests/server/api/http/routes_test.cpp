#include "server/api/http/routes.h"

#include <latch>
#include <stdexcept>
#include <thread>

#include "core/base/text.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class RoutesTest : public ApiTest {};

TEST_F(RoutesTest, OnADiskThatIsNearlyFullOnlyWhatMakesRoomChangesAnything) {
  PressureGauge gauge([] { return Load{.storage_low = true, .storage_nearly_full = true}; });
  gauge.Update();
  std::vector<std::string> go_on;
  for (const Route& route : ApiRoutes(service_.api())) {
    if (route.method == "GET" || gauge.Refuses(route.traffic)) continue;
    go_on.push_back(Format("{} {}", route.method, route.pattern));
  }
  EXPECT_EQ(go_on, (std::vector<std::string>{
                       "DELETE /api/v1/jobs/{name}", "DELETE /api/v1/jobs/{name}/windows/{id}",
                       "DELETE /api/v1/webhooks/{id}", "DELETE /api/v1/tokens/{id}",
                       "POST /api/v1/session", "DELETE /api/v1/session",
                       "DELETE /api/v1/nodes/{id}/binding"}))
      << "docs/decisions/0009-full-disk.md says which";
}

TEST_F(RoutesTest, OfALimitedCallThoseBeyondItAreToldToComeBack) {
  std::latch inside(2), go_on(1);
  Route slow;
  slow.handler = [&](const Request& request, const PathParameters&) {
    if (request.path == "/wrong") throw std::runtime_error("a fault of a library");
    inside.count_down();
    go_on.wait();
    return Reply{.status = 204, .content_type = "", .body = "", .headers = {}};
  };
  const std::vector<Route> routes = {AtMost(2, "slow calls", slow)};
  const auto copies = routes;  // the server copies them, too
  Request wrong;
  wrong.path = "/wrong";
  EXPECT_THROW(copies[0].handler(wrong, {}), std::runtime_error);
  EXPECT_THROW(copies[0].handler(wrong, {}), std::runtime_error);
  std::vector<int> answers(2);
  std::vector<std::jthread> callers;
  for (int& answer : answers) {
    callers.emplace_back([&] { answer = copies[0].handler(Request(), {}).status; });
  }
  inside.wait();
  const Reply third = routes[0].handler(Request(), {});
  EXPECT_EQ(third.status, 429);
  EXPECT_EQ(Json::parse(third.body)["code"], "too-many-requests");
  EXPECT_EQ(Json::parse(third.body)["detail"],
            "2 slow calls are under way, and no more at once; try again");
  EXPECT_EQ(third.headers, (decltype(third.headers){{"Retry-After", "2"}}));
  go_on.count_down();
  callers.clear();
  EXPECT_EQ(answers, (std::vector<int>{204, 204}));
  EXPECT_EQ(copies[0].handler(Request(), {}).status, 204);
}

TEST_F(RoutesTest, OfALimitedCallOneSenderLeavesOneForTheOthers) {
  std::latch inside(1), go_on(1);
  Route slow;
  slow.handler = [&](const Request& request, const PathParameters&) {
    if (request.path == "/slow") {
      inside.count_down();
      go_on.wait();
    }
    return Reply{.status = 204, .content_type = "", .body = "", .headers = {}};
  };
  const Route route = AtMost(2, "slow calls", slow);
  const auto as = [](const char* name, const char* path) {
    Request request;
    request.path = path;
    Caller caller;
    caller.name = name;
    caller.how = Caller::kToken;
    request.caller = std::make_shared<const Caller>(caller);
    return request;
  };
  std::jthread first([&] { (void)route.handler(as("a", "/slow"), {}); });
  inside.wait();
  EXPECT_EQ(route.handler(as("a", "/"), {}).status, 429);
  EXPECT_EQ(route.handler(as("b", "/"), {}).status, 204);
  EXPECT_EQ(route.handler(Request(), {}).status, 204) << "nobody has to say who they are";
  go_on.count_down();
  first.join();
  EXPECT_EQ(route.handler(as("a", "/"), {}).status, 204);
}

}  // namespace
}  // namespace stepscope
