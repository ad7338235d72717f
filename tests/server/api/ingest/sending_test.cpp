// The frames that agents may send where tokens are demanded: whose jobs, whose nodes, how much.

#include "tests/server/api/api_test.h"
#include "tests/support/frames.h"

namespace stepscope {
namespace {

class SendingTest : public ApiTest {
 protected:
  explicit SendingTest(bool demand_tokens = true) : ApiTest(demand_tokens) {}

  std::string TokenOf(const std::string& name, std::vector<std::string> scopes = {}) {
    return service_.Token({.name = name, .role = Role::kAgent, .scopes = std::move(scopes)}).text;
  }
  std::string Start(const std::string& token, const std::string& job, const std::string& node) {
    return service_.PushAs(token, TestAgent(job, node).Started(kStartUs));
  }
  std::int64_t Count(const std::string& sql) {
    return service_.database().Connect()->Query("select count(*) from " + sql)->Int(0, 0);
  }

  const std::string admin_ = service_.Token({.name = "maria", .role = Role::kAdmin}).text;
};

TEST_F(SendingTest, AnAgentSendsForTheJobsOfItsScopes) {
  const std::string token = TokenOf("a", {"team-a-*"});
  EXPECT_EQ(StatusOf(Start(token, "team-a-1", "n")), 200);
  ExpectProblem(Start(token, "team-b-1", "n"), 403, "forbidden", "team-b-1");
  EXPECT_EQ(Count("jobs"), 1);
}

TEST_F(SendingTest, ANodeBelongsToTheNameThatSentItFirst) {
  EXPECT_EQ(StatusOf(Start(TokenOf("a"), "one", "host/7")), 200);
  EXPECT_EQ(StatusOf(Start(TokenOf("a"), "two", "host/7")), 200);  // rotation keeps the name
  ExpectProblem(Start(TokenOf("b"), "three", "host/7"), 403, "node-bound", "host/7");
  EXPECT_EQ(StatusOf(Start(TokenOf("b"), "three", "host/8")), 200);
  EXPECT_EQ(Count("frames where session in (select session from streams where job_id = "
                  "(select job_id from jobs where name = 'three'))"),
            0);
}

TEST_F(SendingTest, ANodeOfWhichNothingWasStoredBelongsToNobody) {
  const std::string a = TokenOf("a"), b = TokenOf("b");
  TestAgent agent("gone", "host/7");
  (void)agent.Started(kStartUs);
  ExpectProblem(service_.PushAs(a, agent.Rank(kStartUs, 0)), 409, "gap");
  test::FrameMaker stray("gone", "host/7");
  ExpectProblem(service_.PushAs(a, test::PushOf({stray.Ticks(kStartUs)})), 410, "unknown-job");
  EXPECT_EQ(Count("node_bindings"), 0);
  EXPECT_EQ(StatusOf(Start(b, "one", "host/7")), 200);
  EXPECT_EQ(Count("node_bindings where token_name = 'b' and maker_kind = 'token'"), 1);
  ExpectProblem(Start(a, "two", "host/7"), 403, "node-bound");
}

TEST_F(SendingTest, FramesOfAJobThatHasEndedBindNothing) {
  EXPECT_EQ(StatusOf(Start(TokenOf("b"), "one", "n")), 200);
  ASSERT_TRUE(service_.database()
                  .Connect()
                  ->Query("update jobs set status = 'Completed', ended_us = 1 where name = 'one'")
                  .ok());
  EXPECT_EQ(StatusOf(Start(TokenOf("a"), "one", "m")), 200);  // each frame is rejected by itself
  EXPECT_EQ(Count("node_bindings"), 1);
}

TEST_F(SendingTest, NodesThatATokenWasMadeForAreOfNoOther) {
  const Json order{{"name", "speech"}, {"role", "agent"}, {"nodes", {"speech-*"}}};
  const std::string made = service_.AskAs(admin_, "POST", "/api/v1/tokens", Dump(order));
  ASSERT_EQ(StatusOf(made), 201) << made;
  EXPECT_EQ(ApiService::JsonOf(made)["nodes"], order["nodes"]);
  const std::string speech = ApiService::JsonOf(made)["token"];
  ExpectProblem(Start(TokenOf("a"), "one", "speech-1"), 403, "node-bound", "reserved");
  EXPECT_EQ(StatusOf(Start(speech, "two", "speech-1")), 200);
  ExpectProblem(Start(speech, "two", "host"), 403, "forbidden", "host");
}

TEST_F(SendingTest, AnAdminLetsANodeChangeHands) {
  const std::string a = TokenOf("a"), b = TokenOf("b");
  EXPECT_EQ(StatusOf(Start(a, "one", "host/7")), 200);
  const std::string path = "/api/v1/nodes/host%2F7/binding";
  EXPECT_EQ(StatusOf(service_.AskAs(admin_, "DELETE", path)), 204);
  ExpectProblem(service_.AskAs(admin_, "DELETE", path), 404, "not-found", "host/7");
  EXPECT_EQ(StatusOf(Start(b, "two", "host/7")), 200);
  ExpectProblem(Start(a, "one", "host/7"), 403, "node-bound");
}

TEST_F(SendingTest, AFrameInTheMiddleOfASessionIsCheckedToo) {
  TestAgent agent("one", "n");
  const std::string first = agent.Started(kStartUs), second = agent.Rank(kStartUs, 0);
  EXPECT_EQ(StatusOf(service_.PushAs(TokenOf("a"), first)), 200);
  ExpectProblem(service_.PushAs(TokenOf("b"), second), 403, "node-bound");
  ExpectProblem(service_.PushAs(TokenOf("a", {"two"}), second), 403, "forbidden");
}

TEST_F(SendingTest, ATokenMakesSoManyJobsADay) {
  const std::string token = TokenOf("a");
  const auto post = [&](const std::string& name, const std::string& with) {
    return service_.AskAs(with, "POST", "/api/v1/jobs", Dump(Json{{"name", name}}));
  };
  for (int count = 0; count < ApiService::kMostNewJobs; ++count) {
    const std::string name = "job-" + std::to_string(count);
    EXPECT_EQ(StatusOf(count % 2 ? post(name, token) : Start(token, name, "n")),
              count % 2 ? 201 : 200);
  }
  for (const std::string& answer : {post("more", token), Start(token, "more", "n")}) {
    ExpectProblem(answer, 429, "limit-jobs", "12 jobs");
    EXPECT_EQ(HeaderOf(answer, "retry-after"), "600");
  }
  EXPECT_EQ(StatusOf(Start(token, "job-1", "n")), 200);
  EXPECT_EQ(StatusOf(post("more", TokenOf("b"))), 201);
  ASSERT_TRUE(service_.database()
                  .Connect()
                  ->Query("update jobs set created_us = created_us - 86400000000")
                  .ok());
  EXPECT_EQ(StatusOf(Start(token, "tomorrow", "n")), 200);
}

TEST_F(SendingTest, ATokenBringsSoManyNodesADay) {
  const std::string token = TokenOf("a");
  for (int count = 0; count < ApiService::kMostNewNodes; ++count) {
    EXPECT_EQ(StatusOf(Start(token, "mlp", "node-" + std::to_string(count))), 200);
  }
  ExpectProblem(Start(token, "mlp", "more"), 429, "limit-nodes", "12 nodes");
  EXPECT_EQ(StatusOf(Start(token, "mlp", "node-3")), 200);
}

// The rates are the service's own, so the burst of a node is used up first.
TEST_F(SendingTest, ANodeThatSendsWithoutPauseHasToWait) {
  const std::string token = TokenOf("a");
  const std::string push = TestAgent("mlp", "n").Started(kStartUs);
  std::string refused;
  for (int count = 0; count < 2'000 && refused.empty(); ++count) {
    const std::string answer = service_.PushAs(token, push);
    if (StatusOf(answer) != 200) refused = answer;
  }
  ExpectProblem(refused, 429, "too-many-requests", "node");
  EXPECT_EQ(HeaderOf(refused, "retry-after"), "1");
}

// A large push is checked on the edge's thread and read on another: it counts once all the same.
TEST_F(SendingTest, APushThatIsNotSmallCountsOnce) {
  const std::string token = TokenOf("a");
  test::FrameMaker agent("mlp", "n");
  EXPECT_EQ(StatusOf(service_.PushAs(token, test::PushOf({agent.Started()}))), 200);
  std::vector<std::string> frames;
  for (std::int64_t i = 0; i < 200; ++i) frames.push_back(agent.Ticks(kStartUs + i * 2'000'000));
  const std::string push = test::PushOf(frames);
  EXPECT_GT(push.size(), 16u * 1024);
  for (int count = 0; count < 30; ++count) {
    EXPECT_EQ(StatusOf(service_.PushAs(token, push)), 200) << count;
  }
}

TEST_F(SendingTest, AReaderSeesTheJobsOfItsScopes) {
  for (const char* job : {"team-a-1", "team-a-2", "team-b-1", "single"}) {
    service_.AskAs(admin_, "POST", "/api/v1/jobs", Dump(Json{{"name", job}}));
  }
  const auto names = [&](std::vector<std::string> scopes) {
    const std::string token = service_.Token(Role::kReader, std::move(scopes));
    const Json list = ApiService::JsonOf(service_.AskAs(token, "GET", "/api/v1/jobs?sort=name"));
    std::string found;
    for (const Json& job : list["items"]) found += job["name"].get<std::string>() + " ";
    return found + list["total"].dump();
  };
  EXPECT_EQ(names({}), "single team-a-1 team-a-2 team-b-1 4");
  EXPECT_EQ(names({"team-a-*"}), "team-a-1 team-a-2 2");
  EXPECT_EQ(names({"team-a-2", "single"}), "single team-a-2 2");
  EXPECT_EQ(names({"team-*"}), "team-a-1 team-a-2 team-b-1 3");
  EXPECT_EQ(names({"tea"}), "0");
}

TEST_F(SendingTest, ChangesSayFromWhereTheyWereMade) {
  const IssuedToken token = service_.Token({.name = "n", .role = Role::kReader});
  EXPECT_EQ(StatusOf(Start(TokenOf("a"), "one", "n")), 200);
  const std::pair<const char*, std::string> changes[] = {
      {"DELETE", "/api/v1/tokens/" + token.row.token_id}, {"DELETE", "/api/v1/nodes/n/binding"}};
  for (const auto& [method, path] : changes) {
    EXPECT_EQ(StatusOf(service_.AskAs(admin_, method, path)), 204);
  }
  const Json items = ApiService::JsonOf(service_.AskAs(admin_, "GET", "/api/v1/audit"))["items"];
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0]["action"], "node.release");
  EXPECT_EQ(items[0]["target"], "n");
  EXPECT_EQ(items[1]["action"], "token.revoke");
  EXPECT_EQ(items[1]["target"], token.row.token_id);
  for (const Json& row : items) {
    EXPECT_EQ(row["name"], "maria");
    EXPECT_EQ(row["peer"], "127.0.0.1");
  }
}

class OpenSendingTest : public SendingTest {
 protected:
  OpenSendingTest() : SendingTest(false) {}
};

TEST_F(OpenSendingTest, WhereNoTokensAreDemandedNothingIsBoundOrLimited) {
  for (int count = 0; count < ApiService::kMostNewJobs + 2; ++count) {
    const std::string number = std::to_string(count);
    EXPECT_EQ(StatusOf(Start("", "job-" + number, "node-" + number)), 200);
  }
  EXPECT_EQ(Count("node_bindings"), 0);
  EXPECT_EQ(Count("jobs where created_by <> ''"), 0);
}

}  // namespace
}  // namespace stepscope
