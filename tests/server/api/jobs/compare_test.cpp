#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class CompareTest : public ApiTest {
 protected:
  // A job whose rank 0 took steps of these milliseconds.
  void Train(const std::string& name, const std::vector<std::int64_t>& wall_ms) {
    TestAgent agent(name, "n1");
    Push(agent.Started(kStartUs));
    Push(agent.Ticks({kStartUs}, {50}));
    Push(agent.Rank(kStartUs, 0));
    if (!wall_ms.empty()) Push(agent.Steps(0, kStartUs + kSecondUs, wall_ms, 0.25, 0));
  }
  Json Compare(const std::string& a, const std::string& b) {
    return service_.GetJson("/api/v1/compare?a=" + a + "&b=" + b);
  }
};

std::vector<std::int64_t> Steps(std::int64_t ms, std::size_t count = 100) {
  std::vector<std::int64_t> wall_ms(count, ms);
  for (std::size_t i = 0; i < count; i += 2) wall_ms[i] += 1;
  return wall_ms;
}

TEST_F(CompareTest, SaysHowMuchFasterTheStepsAreAndHowSureThatIs) {
  Train("slow", Steps(100));
  Train("quick", Steps(50));
  const Json compared = Compare("slow", "quick");
  EXPECT_EQ(compared["a"]["name"], "slow");
  EXPECT_EQ(compared["steps"]["a"]["steps"], 100);
  const Json& change = compared["steps"]["change"];
  EXPECT_EQ(change["verdict"], "faster");
  EXPECT_EQ(change["material"], true);
  EXPECT_NEAR(change["percent"].get<double>(), -50, 1);
  EXPECT_LE(change["low_percent"], change["high_percent"]);
  ASSERT_FALSE(compared["phases"].empty());
  EXPECT_EQ(compared["phases"][0]["phase"], "data");
  EXPECT_EQ(Compare("quick", "slow")["steps"]["change"]["verdict"], "slower");
}

TEST_F(CompareTest, AJobBesideItselfDiffersInNothing) {
  Train("same", Steps(100));
  const Json compared = Compare("same", "same");
  EXPECT_EQ(compared["steps"]["change"]["verdict"], "no clear difference");
  EXPECT_EQ(compared["rules"], Json::array());
  EXPECT_EQ(compared["differs"], Json::array());
}

TEST_F(CompareTest, HasBothRunsAsLinesAndHistograms) {
  Train("slow", Steps(100, 1'000));
  Train("quick", Steps(50, 30));
  const Json compared = Compare("slow", "quick");
  const Json& line = compared["steps"]["a"]["line"];
  EXPECT_LE(line["steps"].size(), 125u);
  EXPECT_GE(line["steps"].size(), 50u);
  EXPECT_EQ(line["steps"].size(), line["mean_seconds"].size());
  ASSERT_EQ(line["steps"].size(), line["start_seconds"].size());
  EXPECT_NEAR(line["start_seconds"][0].get<double>(), 1, 0.01);
  const Json &numbers = line["steps"], &starts = line["start_seconds"];
  const double between = numbers[1].get<double>() - numbers[0].get<double>();
  EXPECT_NEAR(starts[1].get<double>() - starts[0].get<double>(),
              between * line["mean_seconds"][0].get<double>(), 0.01);
  EXPECT_NEAR(line["mean_seconds"].back().get<double>(), 0.1005, 0.001);
  const Json& histogram = compared["steps"]["b"]["histogram"];
  EXPECT_EQ(histogram["edges_seconds"].size(), histogram["counts"].size() + 1);
  std::int64_t steps = 0;
  for (const Json& count : histogram["counts"]) steps += count.get<std::int64_t>();
  EXPECT_EQ(steps, 30);
  EXPECT_EQ(compared["a"]["gpu_util_percent"].size(), 24u);
  EXPECT_EQ(compared["a"]["gpu_util_percent"][0], Json());
  EXPECT_EQ(compared["a"]["cost"], Json()) << "nobody set a price";
}

TEST_F(CompareTest, MoneyIsToldWhereAnHourOfAGpuHasAPrice) {
  Train("slow", Steps(100));
  const auto connection = service_.database().Connect();
  ASSERT_TRUE(connection->Query("update jobs set started_us = 0, ended_us = 3600000000"));
  ASSERT_TRUE(connection->Query("update nodes set facts = '{\"gpus\": [{}, {}]}'"));
  ASSERT_TRUE(connection->Query(
      "insert into rule_configs (job_id, name, rule, parameters) select job_id, 'Priced', "
      "'ProfilerReport', '{\"price_per_gpu_hour\": 3}' from jobs"));
  ASSERT_TRUE(
      connection->Query("insert into rule_states (job_id, rule_config_id, changed_us) select "
                        "job_id, rule_config_id, 0 "
                        "from rule_configs where name = 'Priced'"));
  const Json job = Compare("slow", "slow")["a"];
  EXPECT_EQ(job["price_per_gpu_hour"], 3);
  EXPECT_EQ(job["cost"], 6);
  EXPECT_NEAR(job["cost_of_1000_steps"].get<double>(), 3 * 2 * 100.5 / 3600, 1e-3);
}

TEST_F(CompareTest, IsATableForSpreadsheetsWithoutFormulas) {
  Train("slow", Steps(100));
  Train("quick", Steps(50));
  ASSERT_TRUE(
      service_.database().Connect()->Query("update ranks set facts = '{\"note\": \"=cmd\"}' where "
                                           "job_id = (select job_id from jobs where "
                                           "name = 'quick')"));
  const std::string csv = service_.Get("/api/v1/compare?a=slow&b=quick&format=csv");
  EXPECT_EQ(StatusOf(csv), 200);
  EXPECT_EQ(BodyOf(csv).find("part,what,a,b,change_percent\r\njob,name,slow,quick,\r\n"), 0u)
      << csv;
  EXPECT_NE(BodyOf(csv).find("\r\nsteps,mean_seconds,0.1005,0.0505,-49.75\r\n"), std::string::npos)
      << csv;
  EXPECT_NE(BodyOf(csv).find("\r\nchange,verdict,,faster,\r\n"), std::string::npos) << csv;
  EXPECT_NE(BodyOf(csv).find("\r\ndiffers,rank: note,,'=cmd,\r\n"), std::string::npos) << csv;
  EXPECT_EQ(BodyOf(csv).find('['), std::string::npos) << "no lists";
}

TEST_F(CompareTest, SaysWhatDiffersInWords) {
  Train("slow", Steps(100));
  Train("quick", Steps(50));
  const auto connection = service_.database().Connect();
  const auto tell = [&](const char* job, const char* node, const char* threshold) {
    ASSERT_TRUE(connection->Query(
        "update nodes set facts = $2 where job_id = (select job_id from jobs where name = $1)",
        {job, node}));
    ASSERT_TRUE(connection->Query(
        "update rule_configs set parameters = jsonb_set(parameters, '{threshold}', $2) where rule "
        "= 'DataloaderBottleneck' and job_id = (select job_id from jobs where name = $1)",
        {job, threshold}));
  };
  tell(
      "slow",
      R"({"gpus": [{"device": "gpu0", "uuid": "GPU-1", "pci_address": "1", "name": "A100", "memory_bytes": 85899345920}, {"device": "gpu1", "name": "A100", "memory_bytes": 85899345920}], "memory_bytes": 1, "command": ["python", "train.py"]})",
      "20");
  tell(
      "quick",
      R"({"gpus": [{"device": "gpu0", "name": "H100"}], "memory_bytes": 540000000000, "command": ["python", "train.py", "--quick"]})",
      "25");
  std::map<std::string, std::string> differs;
  const Json compared = Compare("slow", "quick");
  for (const Json& row : compared["differs"]) {
    differs[row["what"]] = Dump(Json{row["a"], row["b"]});
  }
  EXPECT_EQ(differs["GPUs"], R"(["2","1"])");
  EXPECT_EQ(differs["node: gpus"], R"(["2 x A100, memory 80.0 GiB","H100"])");
  EXPECT_EQ(differs["node: memory"], R"(["1 B","503 GiB"])");
  EXPECT_EQ(differs["node: command"], R"(["python train.py","python train.py --quick"])");
  EXPECT_EQ(differs["rule DataloaderBottleneck: threshold"], R"(["20 %","25 %"])");
  EXPECT_EQ(differs.size(), 5u);
}

TEST_F(CompareTest, FewStepsAreNotEnoughAndNoStepsAreNull) {
  Train("few", Steps(100, 19));
  Train("none", {});
  const Json compared = Compare("few", "none");
  EXPECT_EQ(compared["steps"]["change"]["verdict"], "not enough data");
  EXPECT_EQ(compared["steps"]["change"]["percent"], Json());
  EXPECT_EQ(compared["steps"]["b"], Json());
}

TEST_F(CompareTest, BothJobsMustBeNamedAndThere) {
  Train("there", Steps(100));
  ExpectProblem(service_.Get("/api/v1/compare?a=there"), 400, "invalid-parameter",
                "b: names no job");
  ExpectProblem(service_.Get("/api/v1/compare?a=there&b=gone"), 404, "not-found", "gone");
  ExpectProblem(service_.Get("/api/v1/compare?a=%3Cb%3E%2F&b=there"), 400, "bad-request");
  ExpectProblem(service_.Get("/api/v1/compare?a=there&b=there&c=1"), 400, "invalid-parameter", "c");
}

class GuardedCompareTest : public ApiTest {
 protected:
  GuardedCompareTest() : ApiTest(true) {}
};

TEST_F(GuardedCompareTest, ATokenNeedsBothJobsInItsScope) {
  const std::string token = service_.Token(Role::kReader, {"mine-*"});
  for (const char* query : {"a=mine-1&b=other", "a=other&b=mine-1"}) {
    ExpectProblem(service_.AskAs(token, "GET", std::string("/api/v1/compare?") + query), 403,
                  "forbidden", "the token is not for job other");
  }
  ExpectProblem(service_.AskAs(token, "GET", "/api/v1/compare?a=mine-1&b=mine-2"), 404,
                "not-found");
}

}  // namespace
}  // namespace stepscope
