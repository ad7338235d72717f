// PATCH /jobs/{name} with rules: the rules of a job change while it runs.

#include <algorithm>

#include "rules/catalog/catalog.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class JobRulesTest : public ApiTest {
 protected:
  JobRulesTest() { Create("mlp"); }

  std::string Change(const Json& rules, const std::string& job = "mlp") {
    return service_.Ask("PATCH", "/api/v1/jobs/" + job,
                        Dump(Json{{"configuration", {{"rules", rules}}}}));
  }
  std::string Change(const char* rules) { return Change(Json::parse(rules)); }
  Json Rule(const std::string& name) {
    const Json answer = service_.GetJson("/api/v1/jobs/mlp/rules");
    for (const Json& rule : answer["items"]) {
      if (rule["rule_configuration_name"] == name) return rule;
    }
    return nullptr;
  }
  std::size_t Count() { return service_.GetJson("/api/v1/jobs/mlp/rules")["items"].size(); }
  std::int64_t Int(const std::string& sql) {
    const auto rows = service_.database().Connect()->Query(sql);
    EXPECT_TRUE(rows.ok()) << rows.error().message;
    return rows->Int(0, 0);
  }
  void Run(const std::string& sql) {
    const auto done = service_.database().Connect()->Execute(sql);
    EXPECT_TRUE(done.ok()) << done.error().message;
  }
  // Makes the rule look evaluated once, and under evaluation now.
  void Judge(const std::string& rule) {
    const std::string of =
        " where rule_config_id = (select rule_config_id from rule_configs where name = '" + rule +
        "')";
    Run("update rule_states set status = 'IssuesFound', version = 1, revision = 7, saved = "
        "'\\x01', "
        "evaluated_us = 5, verdict = '{\"kind\": \"finding\", \"active\": true}'" +
        of);
    Run("insert into findings (job_id, rule_config_id, finding, from_us, to_us, sentence) select "
        "job_id, rule_config_id, 1, 1, 2, 'old' from rule_configs" +
        of);
    Run("update rule_tasks set state = 'running', fence = 3, attempt = 1" + of);
  }
};

TEST_F(JobRulesTest, ParametersThatAreNotGivenStay) {
  EXPECT_EQ(StatusOf(Change(R"([{"rule":"LowGPUUtilization","parameters":{"window":"60s"}}])")),
            200);
  const std::string answer =
      Change(R"([{"name":"LowGPUUtilization","parameters":{"threshold_p95":60}}])");
  EXPECT_EQ(StatusOf(answer), 200) << answer;
  const Json wanted = {
      {"threshold_p95", 60}, {"threshold_p5", 10}, {"window", "60s"}, {"patience", 1000}};
  EXPECT_EQ(Rule("LowGPUUtilization")["parameters"], wanted);
  EXPECT_EQ(Count(), Catalog().size());
  const Json described = ApiService::JsonOf(answer)["configuration"]["rules"];
  EXPECT_TRUE(std::ranges::any_of(described, [&](const Json& rule) {
    return rule["name"] == "LowGPUUtilization" && rule["parameters"] == wanted;
  })) << described;
  Change(R"([{"name":"LowGPUUtilization","parameters":{"window":null}}])");
  EXPECT_EQ(Rule("LowGPUUtilization")["parameters"]["window"], 500);
}

TEST_F(JobRulesTest, AChangedRuleBeginsAnewAndItsEvaluationLosesItsFence) {
  Judge("LowGPUUtilization");
  Judge("CPUBottleneck");
  ASSERT_EQ(Rule("LowGPUUtilization")["rule_evaluation_status"], "IssuesFound");
  EXPECT_EQ(StatusOf(Change(R"([{"rule":"LowGPUUtilization","parameters":{"window":60}},
                                {"rule":"CPUBottleneck","parameters":{"threshold":50}}])")),
            200);
  const Json rule = Rule("LowGPUUtilization");
  EXPECT_EQ(rule["rule_evaluation_status"], "InProgress");
  EXPECT_EQ(rule["verdict"]["sentence"], "not evaluated yet");
  EXPECT_EQ(rule["active"], false);
  // The other rule has the parameters that it had.
  EXPECT_EQ(Rule("CPUBottleneck")["rule_evaluation_status"], "IssuesFound");
  EXPECT_EQ(Int("select count(*) from findings"), 1);
  EXPECT_EQ(Int("select count(*) from rule_states where saved is null and revision = 8 and "
                "told = '{\"status\": \"IssuesFound\", \"active\": true}'"),
            1);
  EXPECT_EQ(Int("select count(*) from rule_tasks where state = 'ready' and fence = 4"), 1);
  EXPECT_EQ(Int("select count(*) from rule_tasks where state = 'running' and fence = 3"), 1);
  EXPECT_EQ(Int("select count(*) from status_transitions where status = 'InProgress' and version "
                "= 2 and rule_config_id <> 0 and detail like 'its parameters changed%'"),
            1);
}

TEST_F(JobRulesTest, RulesAreAddedAndRemoved) {
  EXPECT_EQ(StatusOf(Change(R"([{"name":"low-strict","rule":"LowGPUUtilization",
                                 "parameters":{"threshold_p95":95}},
                                {"name":"CPUBottleneck","remove":true}])")),
            200);
  EXPECT_EQ(Count(), Catalog().size());
  EXPECT_EQ(Rule("low-strict")["parameters"]["threshold_p95"], 95);
  EXPECT_EQ(Rule("LowGPUUtilization")["parameters"]["threshold_p95"], 70);
  EXPECT_EQ(Rule("CPUBottleneck"), nullptr);
  EXPECT_EQ(Int("select count(*) from rule_tasks"), std::ssize(Catalog()));
  EXPECT_EQ(Int("select count(*) from rule_states"), std::ssize(Catalog()));
  // A removed rule can be added again.
  EXPECT_EQ(StatusOf(Change(R"([{"rule":"CPUBottleneck"}])")), 200);
  EXPECT_EQ(Rule("CPUBottleneck")["parameters"]["threshold"], 50);
}

// Receivers that know a rule to fire would else wait for its end for ever.
TEST_F(JobRulesTest, WhoWasToldOfARuleHearsThatItIsRemoved) {
  service_.Post("/api/v1/webhooks", R"({"url":"https://198.51.100.7/hook"})");
  Judge("LowGPUUtilization");
  Judge("CPUBottleneck");
  Judge("IdleGPU");
  Judge("ProfilerReport");  // sums up, and told nothing
  Run("update rule_states set verdict = '{\"kind\": \"finding\", \"active\": false}' where "
      "rule_config_id = (select rule_config_id from rule_configs where name = 'CPUBottleneck')");
  // The rule is judged anew: it has no verdict, but receivers know that it fires.
  EXPECT_EQ(StatusOf(Change(R"([{"rule":"IdleGPU","parameters":{"threshold":2}}])")), 200);
  EXPECT_EQ(StatusOf(Change(R"([{"name":"LowGPUUtilization","remove":true},
                                {"name":"CPUBottleneck","remove":true},
                                {"name":"IdleGPU","remove":true},
                                {"name":"ProfilerReport","remove":true},
                                {"name":"Dataloader","remove":true}])")),
            200);
  const auto rows = service_.database().Connect()->Query(
      "select event, body::jsonb -> 'data', sequence from deliveries order by delivery_id");
  ASSERT_EQ(rows->size(), 2u);
  const char* names[] = {"IdleGPU", "LowGPUUtilization"};
  for (std::size_t i = 0; i < 2; ++i) {
    const Json told = Json::parse(rows->Text(i, 1));
    EXPECT_EQ(rows->Text(i, 0), "rule.cleared");
    EXPECT_EQ(rows->Int(i, 2), static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(told["rule_configuration_name"], names[i]);
    EXPECT_EQ(told["status"], "IssuesFound");
    EXPECT_EQ(told["detail"], "the rule was removed from the job");
    EXPECT_EQ(told["verdict"]["active"], false);
  }
}

TEST_F(JobRulesTest, WhoWasToldOfARuleHearsThatItsJobIsDeleted) {
  service_.Post("/api/v1/webhooks", R"({"url":"https://198.51.100.7/hook"})");
  Judge("LowGPUUtilization");
  Judge("ProfilerReport");  // sums up, and told nothing
  EXPECT_EQ(StatusOf(service_.Ask("DELETE", "/api/v1/jobs/mlp")), 204);
  const auto rows = service_.database().Connect()->Query(
      "select event, body::jsonb -> 'data' from deliveries order by delivery_id");
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->Text(0, 0), "rule.cleared");
  const Json told = Json::parse(rows->Text(0, 1));
  EXPECT_EQ(told["rule_configuration_name"], "LowGPUUtilization");
  EXPECT_EQ(told["detail"], "the job was deleted");
}

TEST_F(JobRulesTest, AnEndedJobIsDeletedInSilence) {
  service_.Post("/api/v1/webhooks", R"({"url":"https://198.51.100.7/hook"})");
  Judge("LowGPUUtilization");
  Run("update jobs set status = 'Completed', ended_us = 1");
  EXPECT_EQ(StatusOf(service_.Ask("DELETE", "/api/v1/jobs/mlp")), 204);
  EXPECT_EQ(Int("select count(*) from deliveries"), 0);
}

TEST_F(JobRulesTest, WhatIsWrongIsNamedAndNothingIsStored) {
  const struct {
    const char *rules, *pointer, *words;
  } cases[] = {
      {R"([{"rule":"Nope"}])", "/0/rule", "there is no rule 'Nope'; there are LowGPUUtilization, "},
      {R"([{"name":"Nope"}])", "/0/name", "the job has no rule 'Nope'; it has BatchSize, "},
      {R"([{"name":"Nope"}])", "/0/name", ", Throttled; a new one needs \"rule\""},
      {R"([{"parameters":{}}])", "/0/rule", "\"rule\" is wanted, one of LowGPUUtilization, "},
      {R"([{"rule":"Dataloader","parameters":{"treshold":1}}])", "/0/parameters",
       "there is no parameter 'treshold'"},
      {R"([{"rule":"Dataloader","parameters":{"min_threshold":-1}}])", "/0/parameters",
       "min_threshold is -1, but must be a number from 0 to 100000 %"},
      {R"([{"rule":"Dataloader","parameters":{"min_threshold":201}}])", "/0/parameters",
       "min_threshold is 201, but must not be above max_threshold, which is 200 %"},
      {R"([{"rule":"DataloaderBottleneck","parameters":{"threshold":4}}])", "/0/parameters",
       "moderate is 5, but must not be above threshold, which is 4 %"},
      {R"([{"rule":"LowGPUUtilization","parameters":{"threshold_p5":71}}])", "/0/parameters",
       "threshold_p5 is 71, but must not be above threshold_p95, which is 70 %"},
      {R"([{"rule":"Dataloader"},{"name":"Dataloader","remove":true}])", "/1", "stands twice"},
      {R"([{"name":"Nope","remove":true}])", "/0/name", "the job has no rule 'Nope'"},
      {R"([{"name":"Dataloader","remove":false}])", "/0/remove", "true is wanted"},
      {R"([{"name":"Dataloader","rule":"CPUBottleneck"}])", "/0/rule", "is a Dataloader"},
      {R"([{"name":"","rule":"CPUBottleneck"}])", "/0/name", "must have 1 to 63 bytes"},
      {R"([7])", "/0", "an object is wanted"},
      {R"({})", "", ""},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.rules);
    Json rules = Json::parse(each.rules);
    if (rules.is_array()) {
      rules.push_back({{"rule", "IdleGPU"}, {"parameters", {{"threshold", 2}}}});
    }
    const Json problem = ApiService::JsonOf(Change(rules));
    EXPECT_EQ(problem["status"], 400) << problem;
    EXPECT_EQ(problem["errors"][0]["pointer"], "/configuration/rules" + std::string(each.pointer));
    EXPECT_NE(problem["detail"].get<std::string>().find(each.words), std::string::npos) << problem;
    EXPECT_EQ(Rule("IdleGPU")["parameters"]["threshold"], 1);
  }
  const Json numbers =
      ApiService::JsonOf(Change(R"([{"rule":7},{"rule":"IdleGPU","name":7},{"parameters":{}}])"));
  EXPECT_EQ(numbers["errors"].size(), 3u) << numbers;
  Json many = Json::array();
  for (int i = 0; i < 60; ++i) many.push_back({{"name", Format("r{}", i)}, {"rule", "IdleGPU"}});
  ExpectProblem(Change(many), 400, "invalid-body", "at most 64");
  EXPECT_EQ(Count(), Catalog().size());
}

// The interval of the same request is not changed either.
TEST_F(JobRulesTest, OfAJobThatEndedNothingIsChanged) {
  Run("update jobs set status = 'Completed'");
  ExpectProblem(service_.Ask("PATCH", "/api/v1/jobs/mlp",
                             R"({"configuration":{"interval_ms":250,"rules":[
                                 {"rule":"IdleGPU","parameters":{"threshold":2}}]}})"),
                409, "conflict", "the job has ended");
  EXPECT_EQ(Rule("IdleGPU")["parameters"]["threshold"], 1);
  EXPECT_EQ(service_.GetJson("/api/v1/jobs/mlp")["configuration"]["interval_ms"], 500);
}

}  // namespace
}  // namespace stepscope
