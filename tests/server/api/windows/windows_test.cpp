// Windows of spans over HTTP; requests to agents and their answers are tested with ingest.

#include "core/model/span_table.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

constexpr char kWindows[] = "/api/v1/jobs/mlp/windows";

class WindowsTest : public ApiTest {
 protected:
  void Start(const Json& allows = {"interval", "spans"}) {
    Push(agent_.StartedAllowing(allows, kStartUs));
  }
  void Answer(const std::string& id, const std::string& reason, std::int64_t spans) {
    Push(agent_.Lifecycle({{"event", "answered"},
                           {"at_us", kStartUs},
                           {"command", id},
                           {"outcome", reason.empty() ? "done" : "refused"},
                           {"reason", reason},
                           {"spans", spans},
                           {"dropped", 0}}));
  }
  Json Window(const std::string& id = "1") {
    return service_.GetJson(std::string(kWindows) + "/" + id);
  }

  TestAgent agent_{"mlp"};
};

TEST_F(WindowsTest, IsOpenUntilTheAgentHasAnswered) {
  Start();
  const std::string answer = service_.Post(kWindows, R"({"start_step":100,"num_steps":5})");
  EXPECT_EQ(StatusOf(answer), 201) << answer;
  EXPECT_EQ(HeaderOf(answer, "location"), "/api/v1/jobs/mlp/windows/1");
  EXPECT_EQ(ApiService::JsonOf(answer)["status"], "Open");
  const std::string again =
      service_.Post(kWindows, R"({"start_step":100,"num_steps":5,"what":"annotations"})");
  EXPECT_EQ(StatusOf(again), 200) << "safe to repeat";
  EXPECT_EQ(ApiService::JsonOf(again), ApiService::JsonOf(answer));
  ExpectProblem(service_.Post(kWindows, R"({"start_step":100})"), 409, "conflict",
                "window 1 is open: steps 100 to 104");

  Push(agent_.Spans(0, 1, {100, 101, 104}));
  Answer("spans-1", "", 3);
  const Json window = Window();
  EXPECT_EQ(window["status"], "Recorded");
  EXPECT_EQ(window["reason"], nullptr);
  EXPECT_EQ(window["spans"], 3);
  EXPECT_EQ(window["answers"][0]["node"], "host-1");
  EXPECT_EQ(StatusOf(service_.Post(kWindows, R"({"start_step":200})")), 201);
  Answer("spans-2", "rank 0: step 200 had begun", 0);
  const Json list = service_.GetJson(kWindows);
  EXPECT_EQ(list["total"], 2);
  EXPECT_EQ(list["items"][0]["status"], "NotRecorded");
  EXPECT_EQ(list["items"][0]["reason"], "host-1: rank 0: step 200 had begun");
  EXPECT_EQ(list["items"][1], window);
}

TEST_F(WindowsTest, SpansComePageByPage) {
  Start();
  service_.Post(kWindows, R"({"start_step":100,"num_steps":5})");
  Push(agent_.Spans(0, 1, {100, 101, 102}));
  Push(agent_.Spans(3, 1, {100}));
  const std::string spans = std::string(kWindows) + "/1/spans";
  const Json page = service_.GetJson(spans + "?limit=3");
  ASSERT_EQ(page["items"].size(), 3u);
  EXPECT_EQ(page["items"][1], (Json{{"rank", 0},
                                    {"process", 4711},
                                    {"thread", 0},
                                    {"name", "augment"},
                                    {"step", 101},
                                    {"start", "2026-11-20T20:13:34.000010Z"},
                                    {"start_us", kStartUs + 10},
                                    {"duration_seconds", 0.0000015}}));
  const Json rest = service_.GetJson(spans + "?cursor=" + page["next"].get<std::string>());
  ASSERT_EQ(rest["items"].size(), 1u);
  EXPECT_EQ(rest["items"][0]["rank"], 3);
  EXPECT_EQ(rest["next"], nullptr);
  EXPECT_EQ(service_.GetJson(spans + "?rank=0&annotation=decode")["items"].size(), 2u);
  const std::string longest(128, 'x');  // a name that agents take
  EXPECT_EQ(service_.GetJson(spans + "?annotation=" + longest)["items"], Json::array());
  ExpectProblem(service_.Get(spans + "?annotation=" + longest + "x"), 400, "invalid-parameter");
  ExpectProblem(service_.Get(spans + "?cursor=abcd"), 400, "invalid-parameter");
  ExpectProblem(service_.Get(std::string(kWindows) + "/2/spans"), 404, "not-found", "window 2");
}

TEST_F(WindowsTest, IsRefusedWhereNobodyRecords) {
  Create("mlp");
  const char* body = R"({"start_step":1})";
  ExpectProblem(service_.Post(kWindows, body), 409, "conflict", "is heard that records spans");
  Start({"interval"});
  ExpectProblem(service_.Post(kWindows, body), 409, "conflict", "--allow without spans");
  Push(agent_.Ended(kStartUs + kSecondUs, 0));
  ExpectProblem(service_.Post(kWindows, body), 409, "conflict", "job mlp has ended");
  EXPECT_EQ(service_.GetJson(kWindows)["total"], 0);
}

TEST_F(WindowsTest, WithoutAFirstStepItIsTheNextThatAgentsHearOfInTime) {
  Start();
  const char* soon = R"({"num_steps":3})";
  ExpectProblem(service_.Post(kWindows, soon), 409, "conflict", "say at which start_step");
  const std::int64_t now_us = ToMicros(SystemClock().Now());
  Push(agent_.Steps(0, now_us - 20 * kSecondUs, std::vector<std::int64_t>(40, 500), 0));
  const Json window = ApiService::JsonOf(service_.Post(kWindows, soon));
  EXPECT_EQ(window["num_steps"], 3) << window;
  // Step 40 ends now, and ten seconds have 20 more.
  EXPECT_GE(window["start_step"], 62);
  EXPECT_LE(window["start_step"], 100);
}

TEST_F(WindowsTest, WrongRequestsChangeNothing) {
  Start();
  for (const char* body :
       {"", "[]", R"({"start_step":-1})", R"({"start_step":"1"})",
        R"({"start_step":1,"num_steps":0})", R"({"start_step":1,"num_steps":1001})",
        R"({"start_step":9007199254740993})", R"({"start_step":1,"what":"kernels"})",
        R"({"start_step":1,"num_steps":9,"what":"operators"})", R"({"start_step":1,"what":7})",
        R"({"start_step":1,"stacks":true})", R"({"start_step":1,"shapes":true})",
        R"({"start_step":1,"what":"operators","shapes":"yes"})"}) {
    ExpectProblem(service_.Post(kWindows, body), 400, "invalid-body");
  }
  ExpectProblem(service_.Post("/api/v1/jobs/nobody/windows", R"({"start_step":1})"), 404,
                "not-found", "nobody");
  ExpectProblem(service_.Get(std::string(kWindows) + "?what=x"), 400, "invalid-parameter");
  for (const char* id : {"1", "0", "x", "99999999999999999999"}) {
    ExpectProblem(service_.Get(std::string(kWindows) + "/" + id), 404, "not-found");
  }
  EXPECT_EQ(service_.GetJson(kWindows)["items"], Json::array());
}

}  // namespace
}  // namespace stepscope
