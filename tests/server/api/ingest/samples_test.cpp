// POST /jobs/{name}/samples over HTTP.

#include "core/base/text.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

constexpr const char* kPath = "/api/v1/jobs/mlp/samples";

std::string BodyOf(const std::string& values, const std::string& metric = "user.loss",
                   const std::string& node = "n1") {
  return Format(R"({{"node":"{}","times_us":[{},{}],"series":[{{"metric":"{}","values":[{}]}}]}})",
                node, kStartUs, kStartUs + kSecondUs, metric, values);
}

class SamplesApiTest : public ApiTest {
 protected:
  explicit SamplesApiTest(bool demand_tokens = false) : ApiTest(demand_tokens) {}

  std::int64_t Count(const std::string& what) {
    return service_.database().Connect()->Query("select count(*) from " + what)->Int(0, 0);
  }
  void ExpectStored(const std::string& answer, int samples) {
    EXPECT_EQ(StatusOf(answer), 200) << answer;
    EXPECT_EQ(ApiService::JsonOf(answer), (Json{{"stored", samples}, {"node", "n1"}})) << answer;
  }
};

TEST_F(SamplesApiTest, WhatWasSentIsOnTheChart) {
  Create("mlp");
  ExpectStored(service_.Post(kPath, BodyOf("2.5,null")), 1);
  ExpectStored(service_.Post(kPath, BodyOf("2.5,0.75")), 2);
  const Json chart = service_.GetJson("/api/v1/jobs/mlp/metrics?metric=user.loss");
  ASSERT_EQ(chart["series"].size(), 1U) << chart;
  EXPECT_EQ(chart["series"][0]["node"], "n1");
  EXPECT_EQ(chart["series"][0]["metric"], "user.loss");
  EXPECT_EQ(chart["series"][0]["max"][0], 2.5) << chart;
}

TEST_F(SamplesApiTest, RefusesByNameAndGoesOn) {
  Create("mlp");
  const std::string answer = service_.Post(kPath, BodyOf("1,\"x\""));
  ExpectProblem(answer, 400, "invalid-body", "series/0/values/1: a number or null is wanted");
  EXPECT_EQ(ApiService::JsonOf(answer)["errors"][0]["pointer"], "/series/0/values/1");
  ExpectProblem(service_.Post(kPath, BodyOf("1")), 400, "invalid-body", "1 values");
  ExpectProblem(service_.Post(kPath, ""), 400, "invalid-body", "syntax error");
  ExpectProblem(service_.Post(kPath, BodyOf("1,1e999")), 400, "invalid-body", "JSON");
  ExpectProblem(service_.Post(kPath, std::string(3'000'000, '[')), 400, "invalid-body");
  ExpectProblem(service_.Post(kPath, BodyOf("1,2", "gpu_utel")), 422, "unknown-metric", "gpu_utel");
  ExpectProblem(service_.Post(std::string(kPath) + "?a=1", BodyOf("1,2")), 400,
                "invalid-parameter");
  EXPECT_EQ(Count("frames") + Count("streams") + Count("schemas"), 0);
  ExpectStored(service_.Post(kPath, BodyOf("1,2")), 2);
}

TEST_F(SamplesApiTest, NeedsAJobThatIsThereAndRuns) {
  ExpectProblem(service_.Post(kPath, BodyOf("1,2")), 404, "not-found", "mlp");
  ExpectProblem(service_.Post("/api/v1/jobs/-x/samples", BodyOf("1,2")), 400, "bad-request", "-x");
  TestAgent agent("mlp");
  Push(agent.Started(kStartUs));
  Push(agent.Ended(kStartUs + 1, 0));
  ExpectProblem(service_.Post(kPath, BodyOf("1,2")), 409, "job-ended", "mlp");
  EXPECT_EQ(Count("frames"), 0);
}

class SamplesTokenTest : public SamplesApiTest {
 protected:
  SamplesTokenTest() : SamplesApiTest(true) {
    service_.AskAs(TokenOf("a"), "POST", "/api/v1/jobs", Dump(Json{{"name", "mlp"}}));
  }
  std::string TokenOf(const std::string& name, std::vector<std::string> scopes = {}) {
    return service_.Token({.name = name, .role = Role::kAgent, .scopes = std::move(scopes)}).text;
  }
  std::string Send(const std::string& token, const std::string& node) {
    return service_.AskAs(token, "POST", kPath, BodyOf("1,2", "user.loss", node));
  }
};

TEST_F(SamplesTokenTest, ANodeBelongsToTheNameThatSentItFirst) {
  const std::string a = TokenOf("a"), b = TokenOf("b");
  ExpectStored(Send(a, "n1"), 2);
  ExpectProblem(Send(b, "n1"), 403, "node-bound", "n1");
  ExpectProblem(service_.PushAs(b, TestAgent("mlp", "n1").Started(kStartUs)), 403, "node-bound");
  ExpectProblem(Send(TokenOf("c", {"other-*"}), "n2"), 403, "forbidden", "mlp");
  EXPECT_EQ(Count("frames"), 1);
}

TEST_F(SamplesTokenTest, ANodeThatSendsWithoutPauseHasToWait) {
  const std::string token = TokenOf("a");
  std::string refused;
  for (int count = 0; count < 2'000 && refused.empty(); ++count) {
    const std::string answer = Send(token, "n1");
    if (StatusOf(answer) != 200) refused = answer;
  }
  ExpectProblem(refused, 429, "too-many-requests", "node");
  EXPECT_EQ(HeaderOf(refused, "retry-after"), "1");
}

}  // namespace
}  // namespace stepscope
