#include "server/report/fleet/sum_job.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class FleetTest : public ApiTest {
 protected:
  explicit FleetTest(bool demand_tokens = false) : ApiTest(demand_tokens) {}

  // A job of four GPUs and an hour that ended now, half of it busy.
  void Store(const std::string& name, const std::string& user) {
    JobHours hours;
    hours.name = name;
    hours.user = user;
    hours.gpu = "H100";
    hours.gpus = 4;
    hours.to_us = ToMicros(SystemClock().Now()) - kSecondUs;
    hours.from_us = *hours.to_us - 3'600 * kSecondUs;
    hours.ended = hours.settled = true;
    hours.judged_seconds = 4 * 3600;
    hours.busy_seconds = 2 * 3600;
    hours.lost_seconds = {{"preprocessing", 2 * 3600}};
    hours.sentence = "The GPUs were busy 50 %.";
    hours.written_us = *hours.to_us;
    const auto connection = service_.database().Connect();
    const auto made = connection->Query(
        "insert into jobs (name, created_us) values ($1, 0) returning job_id", {name});
    hours.job_id = made->Int(0, 0);
    ASSERT_TRUE(SaveJobHours(*connection, hours));
  }
};

TEST_F(FleetTest, SaysWhatTheGpusWereHeldFor) {
  Store("a", "ann");
  Store("b", "bob");
  const Json fleet = service_.GetJson("/api/v1/fleet");
  EXPECT_EQ(fleet["total"]["jobs"], 2);
  EXPECT_EQ(fleet["total"]["gpu_hours"], 8);
  EXPECT_EQ(fleet["total"]["lost_gpu_hours"], 4);
  EXPECT_EQ(fleet["causes"][0]["cause"], "preprocessing");
  EXPECT_EQ(fleet["causes"][0]["first_in_jobs"], 2);
  EXPECT_EQ(fleet["rows_total"], 2);
  EXPECT_EQ(fleet["jobs"][0]["sentence"], "The GPUs were busy 50 %.");
  EXPECT_EQ(fleet["weeks"].size(), 12u);
  const Json of_bob = service_.GetJson("/api/v1/fleet?user=bob&by=job");
  EXPECT_EQ(of_bob["rows"][0]["key"], "b");
  EXPECT_EQ(of_bob["rows_total"], 1);
}

TEST_F(FleetTest, ThoseThatAskAgainGetTheSameAnswerWithItsTime) {
  Store("a", "ann");
  const Json first = service_.GetJson("/api/v1/fleet");
  const Json second = service_.GetJson("/api/v1/fleet");
  EXPECT_EQ(first["as_of_us"], second["as_of_us"]);
  EXPECT_NE(service_.GetJson("/api/v1/fleet?by=user")["as_of_us"], first["as_of_us"]);
}

TEST_F(FleetTest, HasItsRowsOverTimeAndByNodeAndCause) {
  Store("a", "ann");
  const auto connection = service_.database().Connect();
  ASSERT_TRUE(
      connection->Query("insert into nodes (job_id, name, facts, first_seen_us, last_seen_us) "
                        "select job_id, 'n' || n, "
                        "'{\"gpus\": [{}, {}]}', 0, 0 from jobs, generate_series(1, 2) as n"));
  const Json by_node = service_.GetJson("/api/v1/fleet?by=node");
  ASSERT_EQ(by_node["rows"].size(), 2u);
  EXPECT_EQ(by_node["rows"][0]["key"], "n1");
  EXPECT_EQ(by_node["rows"][0]["sums"]["gpu_hours"], 2);
  EXPECT_EQ(by_node["grid"]["slot_seconds"], 6 * 3600);
  EXPECT_EQ(by_node["grid"]["rows"][1]["gpu_hours"].size(), 28u);
  const Json by_cause = service_.GetJson("/api/v1/fleet?by=cause&cause=preprocessing&node=n2");
  EXPECT_EQ(by_cause["rows"][0]["key"], "preprocessing");
  EXPECT_EQ(by_cause["total"]["gpu_hours"], 2);
  EXPECT_EQ(by_cause["idle_now"]["running_jobs"], 0);
}

TEST_F(FleetTest, IsATableForSpreadsheetsWithoutFormulas) {
  Store("a", "=cmd");
  const std::string csv = service_.Get("/api/v1/fleet?format=csv");
  EXPECT_EQ(StatusOf(csv), 200);
  EXPECT_EQ(BodyOf(csv).find("user,jobs,running_jobs,"), 0u);
  EXPECT_NE(BodyOf(csv).find("\r\n'=cmd,1,0,0,0,4,4,2,2,0,,,preprocessing,"), std::string::npos)
      << csv;
  const std::string accepted =
      service_.Ask("GET", "/api/v1/fleet?by=job", "", "Accept: text/csv\r\n");
  EXPECT_EQ(BodyOf(accepted).find("job,jobs,"), 0u);
}

TEST_F(FleetTest, ASpanThatIsNoneIsRefused) {
  ExpectProblem(service_.Get("/api/v1/fleet?from=2026-11-20T00:00:00Z&to=2026-11-20T00:00:00Z"),
                400, "invalid-parameter", "from");
  ExpectProblem(service_.Get("/api/v1/fleet?by=moon"), 400, "invalid-parameter",
                "user, account, group, gpu, job, node, cause");
  ExpectProblem(service_.Get("/api/v1/fleet?cause=busy"), 400, "invalid-parameter", "cause");
  ExpectProblem(service_.Get("/api/v1/fleet?from=yesterday"), 400, "invalid-parameter", "from");
}

class GuardedFleetTest : public FleetTest {
 protected:
  GuardedFleetTest() : FleetTest(true) {}
};

TEST_F(GuardedFleetTest, ATokenSeesTheJobsOfItsScopeAlone) {
  Store("mine-1", "ann");
  Store("other", "bob");
  const std::string token = service_.Token(Role::kReader, {"mine-*"});
  const Json fleet = ApiService::JsonOf(service_.AskAs(token, "GET", "/api/v1/fleet"));
  EXPECT_EQ(fleet["total"]["jobs"], 1);
  ASSERT_EQ(fleet["rows"].size(), 1u);
  EXPECT_EQ(fleet["rows"][0]["key"], "ann");
}

}  // namespace
}  // namespace stepscope
