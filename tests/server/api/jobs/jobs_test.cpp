#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class JobsTest : public ApiTest {};

std::vector<std::string> NamesOf(const Json& page) {
  std::vector<std::string> names;
  for (const Json& item : page["items"]) names.push_back(item["name"]);
  return names;
}

TEST_F(JobsTest, CreatingTwiceWithTheSameBodyGivesTheSameAnswer) {
  const std::string body = R"({"name":"mlp","group":"g","configuration":{"interval_ms":1000,
      "tags":{"team":"vision"},
      "rules":[{"rule":"DataloaderBottleneck","parameters":{"threshold":25}}]}})";
  const std::string first = service_.Post("/api/v1/jobs", body);
  const std::string second = service_.Post("/api/v1/jobs", body);
  EXPECT_EQ(StatusOf(first), 201) << first;
  EXPECT_EQ(HeaderOf(first, "location"), "/api/v1/jobs/mlp");
  EXPECT_EQ(StatusOf(second), 201);
  EXPECT_EQ(BodyOf(first), BodyOf(second));
  const Json job = ApiService::JsonOf(first);
  EXPECT_EQ(job["configuration"]["rules"][0]["parameters"]["threshold"], 25);
  EXPECT_EQ(job["configuration"]["rules"][0]["parameters"]["moderate"], 5);
}

TEST_F(JobsTest, CreatingWithAnotherBodyIsRefused) {
  Create("mlp", "g");
  ExpectProblem(service_.Post("/api/v1/jobs", R"({"name":"mlp","group":"h"})"), 409, "job-exists",
                "mlp");
  ExpectProblem(service_.Post("/api/v1/jobs",
                              R"({"name":"mlp","group":"g","configuration":{"interval_ms":1000}})"),
                409, "job-exists");
}

TEST_F(JobsTest, EachFaultOfABodyIsNamedWithItsPlace) {
  const Json problem = ApiService::JsonOf(service_.Post("/api/v1/jobs", R"({"name":"-a",
      "colour":1,"configuration":{"interval_ms":1,"rules":[{"rule":"Nope"},
      {"rule":"DataloaderBottleneck","parameters":{"threshold":101}},
      {"rule":"Dataloader","parameters":{"min_threshold":300}}]}})"));
  std::vector<std::string> places;
  for (const Json& fault : problem["errors"]) places.push_back(fault["pointer"]);
  EXPECT_EQ(places,
            (std::vector<std::string>{
                "/colour", "/name", "/configuration/interval_ms", "/configuration/rules/0/rule",
                "/configuration/rules/1/parameters", "/configuration/rules/2/parameters"}));
}

TEST_F(JobsTest, BodiesThatAreNotTheRightJsonAreRefused) {
  for (const std::string body :
       {"", "{", "[]", "null", "{\"name\":1}", "{\"name\":\"a\",\"name\":\"b\"}",
        "{\"name\":\"a\\u0000\"}", "{\"name\":\"\xff\"}", "{\"name\":1e400}",
        "{\"configuration\":{\"rules\":{}}}",
        "{\"name\":\"a\",\"configuration\":{\"tags\":{\"t\":1}}}"}) {
    ExpectProblem(service_.Post("/api/v1/jobs", body), 400, "invalid-body");
  }
  ExpectProblem(service_.Post("/api/v1/jobs", std::string(100'000, '[')), 400, "invalid-body");
  EXPECT_EQ(service_.GetJson("/api/v1/jobs")["total"], 0);
}

TEST_F(JobsTest, ARuleThatIsNotKnownIsAnsweredWithThoseThatAre) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"rule":"Nope"})", "there is no rule 'Nope'; there are LowGPUUtilization, CPUBottleneck"},
      {R"({"rule":"Nope"})", ", ProfilerReport, Custom"},
      {R"({"name":"mine"})", "'mine' is new and needs \"rule\", one of LowGPUUtilization, "},
  };
  for (const auto& [rule, words] : cases) {
    const std::string body = Format(R"({{"name":"a","configuration":{{"rules":[{}]}}}})", rule);
    ExpectProblem(service_.Post("/api/v1/jobs", body), 400, "invalid-body", words);
  }
}

// No other fault of such a body is noted, such as a missing name.
TEST_F(JobsTest, OfABodyThatCannotBeReadOnlyThatIsSaid) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"name":"a","configuration":{"interval_ms":1e999}})",
       "JSON: a number out of range at byte 48"},
      {R"({"name":"a","name":"b"})", "JSON: the key 'name' twice"},
      {R"({"name":"a",})", "JSON: a syntax error at byte 13"},
      {R"(["a"])", "JSON: an object is wanted"},
  };
  for (const auto& [body, words] : cases) {
    const Json problem = ApiService::JsonOf(service_.Post("/api/v1/jobs", body));
    EXPECT_EQ(problem["detail"], words);
    EXPECT_EQ(problem["errors"].size(), 1u) << problem;
  }
}

TEST_F(JobsTest, ListFiltersBeforePaging) {
  for (const char* name : {"albef-1", "albef-2", "bert-1", "albef-3"}) Create(name, "nightly");
  const Json first = service_.GetJson("/api/v1/jobs?name_contains=ALBEF&sort=name&limit=2");
  EXPECT_EQ(NamesOf(first), (std::vector<std::string>{"albef-1", "albef-2"}));
  EXPECT_EQ(first["total"], 3);
  const Json second =
      service_.GetJson("/api/v1/jobs?name_contains=ALBEF&sort=name&limit=2&cursor=" +
                       first["next"].get<std::string>());
  EXPECT_EQ(NamesOf(second), (std::vector<std::string>{"albef-3"}));
  EXPECT_EQ(second["next"], nullptr);
}

TEST_F(JobsTest, ListFiltersByEachOfItsParameters) {
  Create("a", "one");
  Create("b", "two");
  const auto count = [&](const std::string& query) {
    return service_.GetJson("/api/v1/jobs?" + query)["total"].get<int>();
  };
  EXPECT_EQ(count("group=one"), 1);
  EXPECT_EQ(count("status=InProgress,Failed"), 2);
  EXPECT_EQ(count("status=Completed"), 0);
  EXPECT_EQ(count("rule=DataloaderBottleneck"), 2);
  EXPECT_EQ(count("rule=DataloaderBottleneck&rule_status=IssuesFound"), 0);
  EXPECT_EQ(count("rule_status=InProgress"), 2);
  EXPECT_EQ(count("rule_status=IssuesFound,InProgress"), 2);
  EXPECT_EQ(count("rule_status=IssuesFound,Error"), 0);
  EXPECT_EQ(count("created_after=2100-01-01T00:00:00Z"), 0);
  EXPECT_EQ(count("created_before=2100-01-01T00:00:00Z"), 2);
  EXPECT_EQ(
      count("created_after=" + service_.GetJson("/api/v1/jobs/b")["created"].get<std::string>()),
      1);
}

TEST_F(JobsTest, AMisspeltRuleIsRefusedWithTheNearest) {
  service_.Post("/api/v1/jobs",
                R"({"name":"a","configuration":{"rules":[{"name":"strict","rule":"IdleGPU"}]}})");
  ExpectProblem(service_.Get("/api/v1/jobs?rule=LowGpuUtilisation"), 400, "invalid-parameter",
                "no job has a rule 'LowGpuUtilisation'; did you mean LowGPUUtilization?");
  ExpectProblem(service_.Get("/api/v1/jobs?rule=zzz"), 400, "invalid-parameter",
                "no job has a rule 'zzz'");
  EXPECT_EQ(service_.GetJson("/api/v1/jobs?rule=strict")["total"], 1);
  EXPECT_EQ(service_.GetJson("/api/v1/jobs?rule=Straggler")["total"], 0);
}

TEST_F(JobsTest, IsSortedByDurationAndIssuesPageByPage) {
  const auto connection = service_.database().Connect();
  for (const std::string name : {"short", "long", "runs", "new"}) Create(name);
  ASSERT_TRUE(connection->Execute(
      "update jobs set started_us = 1000000, ended_us = 2000000 where name = 'short';"
      "update jobs set started_us = 1000000, ended_us = 9000000 where name = 'long';"
      "update jobs set started_us = 1000000 where name = 'runs';"
      "insert into job_hours (job_id, name, job_group, user_name, account, gpu, nodes, gpus, "
      "ended, "
      "verdict, issues, settled, written_us) select job_id, name, '', '', '', '', 1, 1, true, "
      "'issues', length(name) - 3, true, 1 from jobs where name <> 'new'"));
  const auto all = [&](const std::string& sort) {
    std::vector<std::string> names;
    std::string cursor;
    do {
      const Json page = service_.GetJson("/api/v1/jobs?limit=1&sort=" + sort + cursor);
      for (const std::string& name : NamesOf(page)) names.push_back(name);
      if (page["next"].is_null()) break;
      cursor = "&cursor=" + page["next"].get<std::string>();
    } while (names.size() < 9);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(all("-duration"), (Names{"runs", "long", "short", "new"}));
  EXPECT_EQ(all("duration"), (Names{"new", "short", "long", "runs"}));
  EXPECT_EQ(all("-issues"), (Names{"short", "runs", "long", "new"}));
  const Json first = service_.GetJson("/api/v1/jobs?limit=1&sort=-duration");
  ExpectProblem(service_.Get("/api/v1/jobs?sort=name&cursor=" + first["next"].get<std::string>()),
                400, "invalid-parameter", "cursor");
}

TEST_F(JobsTest, IsATableWhenAskedFor) {
  Create("a", "=1+1");
  Create("b");
  const std::string answer = service_.Get("/api/v1/jobs?format=csv&sort=name&limit=1");
  EXPECT_EQ(BodyOf(answer).find("name,group,status,secondary_status,created,created_us,"), 0u);
  EXPECT_NE(BodyOf(answer).find("\r\na,'=1+1,InProgress,"), std::string::npos) << answer;
  const std::string next = HeaderOf(answer, "stepscope-next");
  EXPECT_EQ(BodyOf(service_.Get("/api/v1/jobs?format=csv&sort=name&cursor=" + next)).find("a,"),
            std::string::npos);
}

TEST_F(JobsTest, WrongQueriesAreRefusedByName) {
  for (const std::string query : {"limit=0", "limit=501", "limit=x", "limit=1&limit=2", "sort=size",
                                  "status=Nope", "status=", "colour=red", "created_after=yesterday",
                                  "cursor=!!", "cursor=AAAA", "name_contains=", "name_contains=%ff",
                                  "rule_status=issuesfound", "rule_status=Error,Nope"}) {
    const std::string answer = service_.Get("/api/v1/jobs?" + query);
    ExpectProblem(answer, 400, "invalid-parameter", query.substr(0, query.find('=')));
  }
  ExpectProblem(service_.Get("/api/v1/jobs?a=%zz"), 400, "bad-request");
}

TEST_F(JobsTest, OutputThatNobodyReadIsNotEmpty) {
  TestAgent agent("mlp");
  Push(agent.Started(kStartUs));
  Push(agent.Lifecycle({{"event", "ended"},
                        {"at_us", kStartUs + kSecondUs},
                        {"exit_code", 3},
                        {"reason", "the kernel killed it"},
                        {"output", nullptr}}));
  const Json job = ApiService::JsonOf(service_.Get("/api/v1/jobs/mlp"));
  EXPECT_EQ(job["failure"]["exit_code"], 3);
  EXPECT_TRUE(job["failure"]["output"].is_null());
  EXPECT_EQ(job["failure"]["reason"], "the kernel killed it");
  const Json last = job["secondary_status_transitions"].back()["message"];
  EXPECT_TRUE(last.get<std::string>().ends_with("exit code 3; the kernel killed it")) << last;
}

TEST_F(JobsTest, DescribeTellsTheWholeStory) {
  TestAgent agent("mlp");
  Push(agent.Started(kStartUs));
  Push(agent.Rank(kStartUs + kSecondUs, 0));
  Push(agent.Ended(kStartUs + 60 * kSecondUs, 3));
  const std::string answer = service_.Get("/api/v1/jobs/mlp");
  const Json job = ApiService::JsonOf(answer);
  EXPECT_EQ(job["status"], "Failed");
  EXPECT_EQ(job["failure"]["exit_code"], 3);
  EXPECT_EQ(job["failure"]["output"], Json({"last words"}));
  EXPECT_EQ(job["nodes"][0]["cores"], 2);
  EXPECT_EQ(job["ranks"][0]["framework"], "numpy");
  EXPECT_EQ(job["secondary_status_transitions"].back()["status"], "Failed");
  EXPECT_GE(job["profiler_rule_evaluation_statuses"].size(), 4U);
  EXPECT_EQ(job["url"], "http://localhost/jobs/mlp");
}

TEST_F(JobsTest, OnlyAFinishedJobMayBeKept) {
  TestAgent agent("mlp");
  Push(agent.Started(kStartUs));
  const std::string running = service_.Get("/api/v1/jobs/mlp");
  EXPECT_EQ(HeaderOf(running, "etag"), "");
  EXPECT_EQ(HeaderOf(running, "cache-control"), "no-store");
  Push(agent.Ended(kStartUs + 60 * kSecondUs, 0));
  const std::string etag = HeaderOf(service_.Get("/api/v1/jobs/mlp"), "etag");
  EXPECT_NE(etag, "");
  RawClient client(service_.port());
  client.Send("GET /api/v1/jobs/mlp HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: " + etag +
              "\r\n\r\n");
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 304);
}

TEST_F(JobsTest, UnknownAndImpossibleNamesAreToldApart) {
  for (const std::string call : {"", "/metrics", "/steps", "/rules", "/findings"}) {
    ExpectProblem(service_.Get("/api/v1/jobs/nobody" + call), 404, "not-found", "nobody");
    ExpectProblem(service_.Get("/api/v1/jobs/-nobody" + call), 400, "bad-request");
    ExpectProblem(service_.Get("/api/v1/jobs/a%2Fb" + call), 400, "bad-request");
  }
}

TEST_F(JobsTest, ListShowsWhatWasMeasured) {
  TestAgent agent("mlp");
  Push(agent.Started(kStartUs));
  Push(agent.Rank(kStartUs, 0));
  Push(agent.Ticks({kStartUs, kStartUs + kSecondUs, kStartUs + 2 * kSecondUs}, {10, 20, 60}));
  Push(agent.Steps(0, kStartUs, {1000, 200, 900}, 0.5));
  Push(agent.Ended(kStartUs + 3 * kSecondUs, 0));
  const Json item = service_.GetJson("/api/v1/jobs")["items"][0];
  EXPECT_EQ(item["mean_cpu_util_percent"], 30);
  EXPECT_EQ(item["cpu_util_sparkline"][0], 10);
  EXPECT_EQ(item["cpu_util_sparkline"][23], 60);
  EXPECT_EQ(item["cpu_util_sparkline"][6], nullptr);
  EXPECT_EQ(item["mean_gpu_util_percent"], nullptr);
  EXPECT_EQ(item["median_step_seconds"], 0.9);
  EXPECT_EQ(item["nodes"], 1);
}

TEST_F(JobsTest, TheMeanUseInAListIsThatOfTheSteps) {
  TestAgent agent("slow-start");
  Push(agent.Started(kStartUs));
  Push(agent.Rank(kStartUs, 0));
  std::vector<std::int64_t> times;
  for (int second = 0; second < 5; ++second) times.push_back(kStartUs + second * kSecondUs);
  Push(agent.Ticks(times, {0, 0, 90, 80, 0}));
  Push(agent.Steps(0, kStartUs + 3 * kSecondUs / 2, {1000, 700}, 0.5));
  Push(agent.Ended(kStartUs + 5 * kSecondUs, 0));
  const Json item = service_.GetJson("/api/v1/jobs")["items"][0];
  EXPECT_EQ(item["mean_cpu_util_percent"], 85);
  EXPECT_EQ(item["cpu_util_sparkline"][0], 0);
}

TEST_F(JobsTest, TheIntervalOfARunningJobCanBeChanged) {
  Create("mlp");
  const std::string answer =
      service_.Ask("PATCH", "/api/v1/jobs/mlp", R"({"configuration":{"interval_ms":250}})");
  EXPECT_EQ(StatusOf(answer), 200) << answer;
  EXPECT_EQ(ApiService::JsonOf(answer)["configuration"]["interval_ms"], 250);
  EXPECT_EQ(service_.GetJson("/api/v1/jobs/mlp")["configuration"]["interval_ms"], 250);
}

TEST_F(JobsTest, AChangeThatIsNoneIsRefusedWithItsPlace) {
  Create("mlp");
  for (const std::string body :
       {"", "{}", "[]", R"({"configuration":{}})", R"({"name":"x"})", R"({"configuration":7})",
        R"({"configuration":{"tags":{}}})", R"({"configuration":{"interval_ms":99}})",
        R"({"configuration":{"interval_ms":60001}})", R"({"configuration":{"interval_ms":"250"}})",
        R"({"configuration":{"interval_ms":250.5}})",
        R"({"configuration":{"interval_ms":null}})"}) {
    ExpectProblem(service_.Ask("PATCH", "/api/v1/jobs/mlp", body), 400, "invalid-body");
  }
  const std::string body = R"({"configuration":{"interval_ms":250}})";
  ExpectProblem(service_.Ask("PATCH", "/api/v1/jobs/nobody", body), 404, "not-found", "nobody");
  EXPECT_EQ(service_.GetJson("/api/v1/jobs/mlp")["configuration"]["interval_ms"], 500);
}

}  // namespace
}  // namespace stepscope
