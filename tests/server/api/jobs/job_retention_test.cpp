// The time for which a job's samples are kept: given when it is created, changed at any time.

#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class KeptSamplesTest : public ApiTest {
 protected:
  static std::string BodyWith(const std::string& days) {
    return Format(R"({{"configuration":{{"keep_samples_days":{}}}}})", days);
  }
  std::string Change(const std::string& days) {
    return service_.Ask("PATCH", "/api/v1/jobs/mlp", BodyWith(days));
  }
  Json Kept() { return service_.GetJson("/api/v1/jobs/mlp")["configuration"]["keep_samples_days"]; }
};

TEST_F(KeptSamplesTest, AreGivenWithTheJob) {
  const std::string body = R"({"name":"mlp","configuration":{"keep_samples_days":90}})";
  const std::string made = service_.Post("/api/v1/jobs", body);
  EXPECT_EQ(StatusOf(made), 201) << made;
  EXPECT_EQ(ApiService::JsonOf(made)["configuration"]["keep_samples_days"], 90);
  EXPECT_EQ(StatusOf(service_.Post("/api/v1/jobs", body)), 201);
  EXPECT_EQ(Kept(), 90);
  ExpectProblem(service_.Post("/api/v1/jobs", R"({"name":"mlp"})"), 409, "job-exists");
}

TEST_F(KeptSamplesTest, AreTheServicesUnlessGiven) {
  EXPECT_EQ(StatusOf(service_.Post("/api/v1/jobs",
                                   R"({"name":"mlp","configuration":{"keep_samples_days":null}})")),
            201);
  EXPECT_EQ(Kept(), nullptr);
  Create("mlp");  // that job again
}

TEST_F(KeptSamplesTest, AreChangedAlsoOnceTheJobHasEnded) {
  TestAgent agent("mlp");
  Push(agent.Started(kStartUs));
  EXPECT_EQ(Kept(), nullptr);
  for (const char* days : {"1", "20000", "0"}) {
    const std::string changed = Change(days);
    EXPECT_EQ(StatusOf(changed), 200) << changed;
    EXPECT_EQ(Kept(), *ParseJson(days));
  }
  Push(agent.Ended(kStartUs + kSecondUs, 0));
  const std::string etag = HeaderOf(service_.Get("/api/v1/jobs/mlp"), "etag");
  EXPECT_EQ(StatusOf(Change("90")), 200);
  EXPECT_NE(HeaderOf(service_.Get("/api/v1/jobs/mlp"), "etag"), etag);
  EXPECT_EQ(StatusOf(Change("null")), 200);
  EXPECT_EQ(Kept(), nullptr);
}

TEST_F(KeptSamplesTest, AreNotChangedWhenTheRestIsRefused) {
  TestAgent agent("mlp");
  Push(agent.Started(kStartUs));
  Push(agent.Ended(kStartUs + kSecondUs, 0));
  const std::string both = R"({"configuration":{"keep_samples_days":9,"interval_ms":250}})";
  ExpectProblem(service_.Ask("PATCH", "/api/v1/jobs/mlp", both), 409, "conflict");
  EXPECT_EQ(Kept(), nullptr);
}

TEST_F(KeptSamplesTest, ThatAreNoDaysAreRefusedWithTheirPlace) {
  Create("mlp");
  for (const char* days :
       {"-1", "20001", "1.5", "1e3", "\"30\"", "true", "[]", "{}", "9007199254740991"}) {
    ExpectProblem(Change(days), 400, "invalid-body", "configuration/keep_samples_days: ");
    const std::string body =
        Format(R"({{"name":"other","configuration":{{"keep_samples_days":{}}}}})", days);
    ExpectProblem(service_.Post("/api/v1/jobs", body), 400, "invalid-body",
                  "configuration/keep_samples_days: ");
  }
  EXPECT_EQ(Kept(), nullptr);
  ExpectProblem(service_.Ask("PATCH", "/api/v1/jobs/nobody", BodyWith("3")), 404, "not-found");
}

}  // namespace
}  // namespace stepscope
