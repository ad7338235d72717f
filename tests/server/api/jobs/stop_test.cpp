// Stopping a job over HTTP; requests to agents are tested with ingest.

#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

constexpr char kStop[] = "/api/v1/jobs/mlp/stop";

class StopTest : public ApiTest {
 protected:
  void Start(const Json& allows) { Push(agent_.StartedAllowing(allows, kStartUs)); }
  Json Job() { return service_.GetJson("/api/v1/jobs/mlp"); }

  TestAgent agent_{"mlp"};
};

TEST_F(StopTest, AJobIsStoppingUntilItsCommandHasEnded) {
  Start({"interval", "stop"});
  const std::string answer = service_.Post(kStop, "");
  EXPECT_EQ(StatusOf(answer), 202) << answer;
  EXPECT_EQ(ApiService::JsonOf(answer)["status"], "Stopping");
  EXPECT_EQ(StatusOf(service_.Post(kStop, "{}")), 202) << "safe to repeat";
  Push(agent_.Ended(kStartUs + 1'000'000, 143));
  const Json job = Job();
  EXPECT_EQ(job["status"], "Stopped");
  EXPECT_EQ(job["ended_us"], kStartUs + 1'000'000);
  EXPECT_EQ(job["secondary_status_transitions"].size(), 3u) << job["secondary_status_transitions"];
  EXPECT_EQ(job["secondary_status_transitions"].back()["message"], "host-1: exit code 143");
  EXPECT_EQ(StatusOf(service_.Post(kStop, "")), 202);
}

TEST_F(StopTest, TheStatusAloneIsToldToo) {
  Start({"stop"});
  Json told = service_.GetJson("/api/v1/jobs/mlp/status");
  EXPECT_EQ(
      told,
      Json({{"name", "mlp"}, {"status", "InProgress"}, {"ended", nullptr}, {"ended_us", nullptr}}));
  service_.Post(kStop, "");
  EXPECT_EQ(service_.GetJson("/api/v1/jobs/mlp/status")["status"], "Stopping");
  Push(agent_.Ended(kStartUs + 1'000'000, 143));
  told = service_.GetJson("/api/v1/jobs/mlp/status");
  EXPECT_EQ(told["status"], "Stopped");
  EXPECT_EQ(told["ended_us"], kStartUs + 1'000'000);
  EXPECT_EQ(StatusOf(service_.Get("/api/v1/jobs/nobody/status")), 404);
  EXPECT_EQ(StatusOf(service_.Get("/api/v1/jobs/mlp/status?x=1")), 400);
}

TEST_F(StopTest, AJobThatNobodyRunsIsStoppedAtOnce) {
  Create("mlp", "g");
  EXPECT_EQ(ApiService::JsonOf(service_.Post(kStop, ""))["status"], "Stopped");
}

TEST_F(StopTest, IsRefusedWhereNoAgentMayDoSo) {
  Start({"interval"});
  ExpectProblem(service_.Post(kStop, ""), 409, "conflict", "--allow interval,stop");
  EXPECT_EQ(Job()["status"], "InProgress");
}

TEST_F(StopTest, AgentsOfOlderVersionsAreAsked) {
  Start(nullptr);
  EXPECT_EQ(ApiService::JsonOf(service_.Post(kStop, ""))["status"], "Stopping");
}

TEST_F(StopTest, AJobThatEndedByItselfIsNotStopped) {
  Start({"stop"});
  Push(agent_.Ended(kStartUs + 1'000'000, 0));
  ExpectProblem(service_.Post(kStop, ""), 409, "conflict", "job mlp has ended");
  EXPECT_EQ(Job()["status"], "Completed");
}

TEST_F(StopTest, WrongRequestsChangeNothing) {
  Start({"stop"});
  ExpectProblem(service_.Post(kStop, R"({"force":true})"), 400, "invalid-body");
  ExpectProblem(service_.Post(std::string(kStop) + "?now=1", ""), 400, "invalid-parameter");
  ExpectProblem(service_.Post("/api/v1/jobs/nobody/stop", ""), 404, "not-found", "nobody");
  EXPECT_EQ(Job()["status"], "InProgress");
}

}  // namespace
}  // namespace stepscope
