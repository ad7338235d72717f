// GET /removals: jobs that were removed.

#include "server/store/retention/removals.h"

#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class RemovalsTest : public ApiTest {
 protected:
  explicit RemovalsTest(bool demand_tokens = false) : ApiTest(demand_tokens) {}

  // Removes as retention does.
  void Remove(const std::string& name, const std::string& reason, std::int64_t at_us) {
    const auto connection = service_.database().Connect();
    const Status gone = DeleteJob(*connection, name, reason, at_us);
    EXPECT_TRUE(gone.ok()) << gone.error().message;
  }
  static std::vector<std::string> Names(const Json& page) {
    std::vector<std::string> names;
    for (const Json& item : page["items"]) names.push_back(item["name"]);
    return names;
  }
};

TEST_F(RemovalsTest, SayWhichJobWhenWhyAndHowMuch) {
  Push(TestAgent("mlp").Started(kStartUs));
  Remove("mlp", "age", kStartUs);
  const auto connection = service_.database().Connect();
  const auto open = ListRemovals(*connection);
  ASSERT_TRUE(open.ok() && open->size() == 1);
  while (RemoveSome(*connection, open->front(), 100, kStartUs)->rows > 0) {
  }
  const Json page = service_.GetJson("/api/v1/removals");
  EXPECT_EQ(page["total"], 1);
  EXPECT_EQ(page["next"], nullptr);
  ASSERT_EQ(page["items"].size(), 1u) << page;
  const Json& item = page["items"][0];
  EXPECT_EQ(item["name"], "mlp");
  EXPECT_EQ(item["reason"], "age");
  EXPECT_EQ(item["removed_us"], kStartUs);
  EXPECT_GT(item["rows"], 2) << "node, stream, event, rules";
  EXPECT_EQ(item["bytes"], 0) << "nothing was sampled";
  EXPECT_EQ(item["ended"], nullptr) << "a push may still be on its way";
}

TEST_F(RemovalsTest, ComeNewestFirstAndPageByPage) {
  for (const char* name : {"a", "b", "c"}) Create(name);
  Remove("b", "deleted", kStartUs);
  Remove("a", "size", kStartUs + 1);
  Remove("c", "age", kStartUs + 1);  // at once with the one before
  const Json first = service_.GetJson("/api/v1/removals?limit=2");
  EXPECT_EQ(Names(first), (std::vector<std::string>{"c", "a"}));
  EXPECT_EQ(first["total"], 3);
  const std::string cursor = first["next"];
  const Json second = service_.GetJson("/api/v1/removals?limit=2&cursor=" + cursor);
  EXPECT_EQ(Names(second), (std::vector<std::string>{"b"}));
  EXPECT_EQ(second["next"], nullptr);
  ExpectProblem(service_.Get("/api/v1/removals?cursor=b"), 400, "invalid-parameter", "cursor");
  ExpectProblem(service_.Get("/api/v1/removals?limit=0"), 400, "invalid-parameter", "limit");
}

class RemovalsOfOthers : public RemovalsTest {
 protected:
  RemovalsOfOthers() : RemovalsTest(true) {}
};

TEST_F(RemovalsOfOthers, AreNotShownToATokenOfSomeJobs) {
  const std::string admin = service_.Token(Role::kAdmin);
  for (const char* name : {"mlp-1", "mlp", "other"}) {
    service_.AskAs(admin, "POST", "/api/v1/jobs", Dump(Json{{"name", name}}));
    Remove(name, "deleted", kStartUs);
  }
  const auto seen = [&](const std::vector<std::string>& scopes) {
    const std::string reader = service_.Token(Role::kReader, scopes);
    return ApiService::JsonOf(service_.AskAs(reader, "GET", "/api/v1/removals"));
  };
  EXPECT_EQ(seen({"mlp-*"})["total"], 1);
  EXPECT_EQ(Names(seen({"mlp-*"})), (std::vector<std::string>{"mlp-1"}));
  EXPECT_EQ(Names(seen({"other", "mlp"})), (std::vector<std::string>{"other", "mlp"}));
  EXPECT_EQ(seen({})["total"], 3);
}

}  // namespace
}  // namespace stepscope
