#include "server/front/route_table.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

// A table of calls that answer nothing.
RouteTable TableOf(std::initializer_list<std::pair<std::string_view, std::string_view>> calls) {
  std::vector<Route> routes;
  for (const auto& [method, pattern] : calls) {
    routes.push_back({.method = method, .pattern = pattern, .handler = {}});
  }
  return RouteTable(std::move(routes));
}

TEST(RouteTable, FindsTheCallAndTheNamedPartsOfItsPath) {
  const RouteTable table = TableOf({{"GET", "/jobs/{name}/nodes/{node}"}, {"GET", "/jobs/{name}"}});
  const Result<Match> match = table.Find("GET", "/jobs/a%2Fb/nodes/n");
  ASSERT_TRUE(match.ok());
  ASSERT_NE(match->route, nullptr);
  EXPECT_EQ(match->route->pattern, "/jobs/{name}/nodes/{node}");
  EXPECT_EQ(match->parameters, (PathParameters{{"name", "a/b"}, {"node", "n"}}));
}

TEST(RouteTable, SaysWhichMethodsAPathHas) {
  const RouteTable table = TableOf({{"GET", "/jobs"}, {"POST", "/jobs"}, {"PUT", "/other"}});
  EXPECT_EQ(table.Find("HEAD", "/jobs")->route->method, "GET");
  const Result<Match> match = table.Find("DELETE", "/jobs");
  EXPECT_EQ(match->route, nullptr);
  EXPECT_EQ(match->methods, (std::vector<std::string_view>{"GET", "HEAD", "POST"}));
}

TEST(RouteTable, FindsNothingWhereAPartIsMissingEmptyOrTooMany) {
  const RouteTable table = TableOf({{"GET", "/jobs/{name}"}});
  for (const char* path :
       {"", "/", "/jobs", "/jobs/", "/jobs/a/", "/jobs/a/b", "//jobs/a", "jobs/a"}) {
    const Result<Match> match = table.Find("GET", path);
    ASSERT_TRUE(match.ok()) << path;
    EXPECT_EQ(match->route, nullptr) << path;
    EXPECT_TRUE(match->methods.empty()) << path;
  }
}

TEST(RouteTable, RefusesAPathThatIsNotValidPercentEncoding) {
  const RouteTable table = TableOf({{"GET", "/jobs/{name}"}});
  for (const char* path : {"/jobs/%", "/jobs/%00", "/%zz/a"}) {
    EXPECT_FALSE(table.Find("GET", path).ok()) << path;
  }
}

}  // namespace
}  // namespace stepscope
