#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class ReportTest : public ApiTest {
 protected:
  ReportTest() { Create("mlp"); }

  void End() {
    const auto ended = service_.database().Connect()->Query(
        "update jobs set status = 'Completed', ended_us = created_us + 1000000");
    ASSERT_TRUE(ended.ok());
  }
};

TEST_F(ReportTest, IsAsOfNowWhileTheJobRunsAndIsNotStored) {
  const std::string answer = service_.Get("/api/v1/jobs/mlp/report");
  EXPECT_EQ(StatusOf(answer), 200) << answer;
  EXPECT_EQ(answer.find("ETag"), std::string::npos);
  const Json report = ApiService::JsonOf(answer);
  EXPECT_EQ(report["job"]["running"], true);
  EXPECT_EQ(report["summary"]["end"], nullptr);
  EXPECT_EQ(report["summary"]["training_loop"], nullptr);
  EXPECT_EQ(report["usage"]["rows"], Json::array());
  EXPECT_GT(report["rules"].size(), 10u);
  EXPECT_EQ(report["rules"][0]["rule"]["verdict"]["sentence"], "not evaluated yet");
}

TEST_F(ReportTest, OfAFinishedJobIsTheSameEachTime) {
  End();
  const std::string answer = service_.Get("/api/v1/jobs/mlp/report");
  EXPECT_NE(answer.find("ETag"), std::string::npos);
  EXPECT_EQ(ApiService::JsonOf(answer)["summary"]["duration_seconds"], 1);
  EXPECT_EQ(service_.GetJson("/api/v1/jobs/mlp/report"), ApiService::JsonOf(answer));
}

TEST_F(ReportTest, IsAPageThatMayOnlyBeShown) {
  const std::string answer = service_.Get("/api/v1/jobs/mlp/report.html");
  EXPECT_EQ(StatusOf(answer), 200) << answer;
  EXPECT_NE(answer.find("Content-Type: text/html; charset=utf-8"), std::string::npos);
  const std::string policy = "Content-Security-Policy: ";
  const std::size_t at = answer.find(policy);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(answer.find(policy, at + 1), std::string::npos);  // only this page's
  const std::string line = answer.substr(at, answer.find("\r\n", at) - at);
  EXPECT_NE(line.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(line.find("sandbox"), std::string::npos);
  EXPECT_EQ(line.find("script-src"), std::string::npos);
  EXPECT_NE(answer.find("X-Content-Type-Options: nosniff"), std::string::npos);
  EXPECT_NE(answer.find("still running."), std::string::npos);
  ExpectProblem(service_.Get("/api/v1/jobs/nope/report.html"), 404, "not-found", "nope");
}

TEST_F(ReportTest, WrongRequestsAreRefused) {
  ExpectProblem(service_.Get("/api/v1/jobs/nope/report"), 404, "not-found", "nope");
  ExpectProblem(service_.Get("/api/v1/jobs/mlp/report?a=b"), 400, "invalid-parameter");
}

}  // namespace
}  // namespace stepscope
