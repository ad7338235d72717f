// POST /batch: several calls that only read, in one request.

#include <stdexcept>

#include "core/base/text.h"
#include "tests/server/api/api_test.h"
#include "tests/support/fake_clock.h"

namespace stepscope {
namespace {

constexpr const char* kBatch = "/api/v1/batch";

std::string Asking(const std::vector<std::string>& targets) {
  return Dump(Json{{"get", targets}});
}

class BatchTest : public ApiTest {
 protected:
  explicit BatchTest(bool demand_tokens = false) : ApiTest(demand_tokens) {}

  Json Answers(const std::vector<std::string>& targets) {
    const std::string answer = service_.Post(kBatch, Asking(targets));
    EXPECT_EQ(StatusOf(answer), 200) << answer;
    return ApiService::JsonOf(answer)["answers"];
  }
};

TEST_F(BatchTest, AnswersAsEachCallDoesByItself) {
  Create("mlp");
  Create("resnet");
  const std::vector<std::string> targets = {"/jobs?limit=2", "/jobs/resnet", "/jobs/mlp/rules",
                                            "/jobs/mlp/metrics?points=10", "/rules"};
  const Json answers = Answers(targets);
  ASSERT_EQ(answers.size(), targets.size());
  for (std::size_t at = 0; at < targets.size(); ++at) {
    EXPECT_EQ(answers[at]["status"], 200) << targets[at];
    EXPECT_EQ(answers[at]["body"], service_.GetJson("/api/v1" + targets[at])) << targets[at];
  }
}

TEST_F(BatchTest, SaysOfEachCallWhyNot) {
  Create("mlp");
  const Json answers =
      Answers({"/jobs/other", "/jobs?limit=0", "/nothing/here", "/jobs/mlp", "/jobs?format=csv",
               "/jobs/mlp/report.html", "/%zz", "/jobs?q=" + std::string(2048, 'a')});
  const std::vector<std::pair<int, std::string>> wanted = {
      {404, "not-found"},   {400, "invalid-parameter"},
      {404, "not-found"},   {200, ""},
      {400, "bad-request"}, {400, "bad-request"},
      {400, "bad-request"}, {414, "target-too-long"}};
  ASSERT_EQ(answers.size(), wanted.size());
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    EXPECT_EQ(answers[at]["status"], wanted[at].first) << answers[at];
    EXPECT_EQ(answers[at]["body"].value("code", ""), wanted[at].second) << answers[at];
  }
}

TEST_F(BatchTest, ChangesNothingAndHoldsNoOtherBatch) {
  Create("mlp");
  for (const std::string target : {"/batch", "/webhooks/1/test", "/jobs/mlp/stop"}) {
    EXPECT_EQ(Answers({target})[0]["status"], 404) << target;
  }
  EXPECT_EQ(StatusOf(service_.Get("/api/v1/jobs/mlp")), 200);
}

TEST_F(BatchTest, RefusesWhatIsNoListOfCalls) {
  const std::string nine = Asking(std::vector<std::string>(9, "/jobs"));
  for (const std::string& body :
       {std::string(), std::string("[]"), std::string("{}"), std::string(R"({"get":[]})"),
        std::string(R"({"get":"/jobs"})"), std::string(R"({"get":[7]})"),
        std::string(R"({"get":["jobs"]})"), std::string(R"({"get":["/jobs\r\nHost: x"]})"),
        std::string(R"({"get":["/jobs#x"]})"), std::string(R"({"get":["/jöbs"]})"),
        std::string(R"({"get":["/jobs"],"post":[]})"), nine, std::string(R"({"get":["/jobs")")}) {
    ExpectProblem(service_.Post(kBatch, body), 400, "invalid-body");
  }
  ExpectProblem(service_.Post("/api/v1/batch?x=1", Asking({"/jobs"})), 400, "invalid-parameter");
  ExpectProblem(service_.Get(kBatch), 405, "method-not-allowed");
}

class BatchRightsTest : public BatchTest {
 protected:
  BatchRightsTest() : BatchTest(true) {}

  std::vector<int> Statuses(const std::string& token) {
    const std::string answer = service_.AskAs(
        token, "POST", kBatch, Asking({"/session", "/jobs/mlp", "/jobs/other", "/tokens"}));
    std::vector<int> statuses = {StatusOf(answer)};
    for (const Json& one : ApiService::JsonOf(answer).value("answers", Json::array())) {
      statuses.push_back(one["status"]);
    }
    return statuses;
  }
};

TEST_F(BatchRightsTest, GiveNoMoreThanEachCallWould) {
  const std::string admin = service_.Token(Role::kAdmin);
  for (const char* name : {"mlp", "other"}) {
    const std::string body = Dump(Json{{"name", name}});
    EXPECT_EQ(StatusOf(service_.AskAs(admin, "POST", "/api/v1/jobs", body)), 201);
  }
  const std::vector<int> all = {200, 200, 200, 200, 200}, scoped = {200, 200, 200, 403, 403},
                         sends = {200, 200, 403, 403, 403}, nobody = {401};
  EXPECT_EQ(Statuses(admin), all);
  EXPECT_EQ(Statuses(service_.Token(Role::kReader, {"mlp*"})), scoped);
  EXPECT_EQ(Statuses(service_.Token(Role::kAgent, {"mlp*"})), sends);
  EXPECT_EQ(Statuses(""), nobody);
  EXPECT_EQ(Statuses("st_reader_0000000A_nonsense"), nobody);
}

// The calls of a batch as a table of their own.
class BatchBoundsTest : public testing::Test {
 protected:
  Route Made(std::string_view pattern, Reply reply) {
    return {.method = "GET",
            .pattern = pattern,
            .handler =
                [this, reply](const Request&, const PathParameters&) {
                  clock_.Advance(took_);
                  return reply;
                },
            .right = Right::kOpen};
  }
  Json Answers(std::vector<Route> routes, const std::vector<std::string>& targets) {
    Request request;
    request.method = "POST";
    request.body = Asking(targets);
    request.has_body = true;
    const Reply reply = BatchRoutes(clock_, std::move(routes))[0].handler(request, {});
    EXPECT_EQ(reply.status, 200);
    return ParseJson(reply.body, {.bytes = 64'000'000, .depth = 64, .values = 10'000'000})
        .value()["answers"];
  }

  test::FakeClock clock_;
  Duration took_ = 0ms;
};

TEST_F(BatchBoundsTest, LeaveWhatComesBehindALargeAnswerToItself) {
  const std::string large = '"' + std::string(5 << 20, 'x') + '"';
  const Json answers = Answers({Made("/api/v1/large", {.body = large, .headers = {}}),
                                Made("/api/v1/small", {.body = "{}", .headers = {}})},
                               {"/small", "/large", "/small"});
  EXPECT_EQ(answers[0]["status"], 200);
  EXPECT_EQ(answers[1]["body"].get<std::string>().size(), std::size_t{5} << 20);
  EXPECT_EQ(answers[2]["status"], 413);
  EXPECT_EQ(answers[2]["body"]["code"], "batch-full");
}

TEST_F(BatchBoundsTest, LeaveWhatComesTooLateToItself) {
  took_ = 300ms;
  const Json answers = Answers({Made("/api/v1/slow", {.body = "{}", .headers = {}})},
                               {"/slow", "/slow", "/slow", "/slow"});
  EXPECT_EQ(answers[1]["status"], 200);
  EXPECT_EQ(answers[2]["status"], 413);
  EXPECT_EQ(answers[3]["status"], 413);
}

TEST_F(BatchBoundsTest, OneThatFailsTakesNoOtherWithIt) {
  Route throws = Made("/api/v1/throws", {});
  throws.handler = [](const Request&, const PathParameters&) -> Reply {
    throw std::runtime_error("out of something");
  };
  Reply busy{.status = 503, .body = "{}", .headers = {{"Retry-After", "7"}}};
  const Json answers = Answers({throws, Made("/api/v1/busy", busy)}, {"/throws", "/busy"});
  EXPECT_EQ(answers[0]["status"], 500);
  EXPECT_EQ(answers[1]["status"], 503);
  EXPECT_EQ(answers[1]["retry_after"], 7);
}

}  // namespace
}  // namespace stepscope
