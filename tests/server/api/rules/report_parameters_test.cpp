// Parameters of other rules that ProfilerReport is given.

#include "core/base/text.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class ReportParametersTest : public ApiTest {
 protected:
  std::string Make(const std::string& rules) {
    return service_.Post("/api/v1/jobs",
                         Format(R"({{"name":"mlp","configuration":{{"rules":[{}]}}}})", rules));
  }
  std::string Change(const std::string& rules) {
    return service_.Ask("PATCH", "/api/v1/jobs/mlp",
                        Format(R"({{"configuration":{{"rules":[{}]}}}})", rules));
  }
  Json Parameters(const std::string& name) {
    const Json answer = service_.GetJson("/api/v1/jobs/mlp/rules");
    for (const Json& rule : answer["items"]) {
      if (rule["rule_configuration_name"] == name) return rule["parameters"];
    }
    return nullptr;
  }
};

constexpr char kReport[] =
    R"({"rule":"ProfilerReport","parameters":{"threshold":20,"LowGPUUtilization_threshold_p95":60}})";

TEST_F(ReportParametersTest, AreThoseOfTheRuleOfThatName) {
  const std::string body = std::string(kReport) +
                           R"(,{"rule":"LowGPUUtilization","parameters":{"window":"60s"}})"
                           R"(,{"rule":"IdleGPU"})";
  const std::string made = Make(body);
  ASSERT_EQ(StatusOf(made), 201) << made;
  EXPECT_EQ(Parameters("ProfilerReport"), Json({{"threshold", 20}, {"price_per_gpu_hour", 0}}));
  EXPECT_EQ(Parameters("LowGPUUtilization")["threshold_p95"], 60);
  EXPECT_EQ(Parameters("LowGPUUtilization")["window"], "60s");
  EXPECT_EQ(StatusOf(Make(body)), 201) << "the same body again";
  const std::string changed = Change(R"({"name":"ProfilerReport","parameters":{"IdleGPU_minutes":20,
                 "LowGPUUtilization_threshold_p95":null}})");
  ASSERT_EQ(StatusOf(changed), 200) << changed;
  EXPECT_EQ(Parameters("IdleGPU")["minutes"], 20);
  EXPECT_EQ(Parameters("LowGPUUtilization")["threshold_p95"], 70);
  EXPECT_EQ(Parameters("LowGPUUtilization")["window"], "60s");
  EXPECT_EQ(Parameters("ProfilerReport")["threshold"], 20);
}

TEST_F(ReportParametersTest, OfANewJobThatNamesNoOtherRuleAreThoseOfItsDefaultRules) {
  const std::string made = Make(kReport);
  ASSERT_EQ(StatusOf(made), 201) << made;
  EXPECT_EQ(service_.GetJson("/api/v1/jobs/mlp/rules")["items"].size(), DefaultRules().size());
  EXPECT_EQ(Parameters("ProfilerReport")["threshold"], 20);
  EXPECT_EQ(Parameters("LowGPUUtilization")["threshold_p95"], 60);
  EXPECT_EQ(Parameters("IdleGPU")["minutes"], 10);
  EXPECT_EQ(StatusOf(Make(kReport)), 201) << "the same body again";
}

TEST_F(ReportParametersTest, TheReportAloneIsStillAListOfOneRule) {
  ASSERT_EQ(StatusOf(Make(R"({"rule":"ProfilerReport","parameters":{"threshold":20}})")), 201);
  EXPECT_EQ(service_.GetJson("/api/v1/jobs/mlp/rules")["items"].size(), 1u);
}

TEST_F(ReportParametersTest, OfAJobThatStandsNeedNoOtherItem) {
  Create("mlp");
  const std::string changed = Change(kReport);
  ASSERT_EQ(StatusOf(changed), 200) << changed;
  EXPECT_EQ(Parameters("LowGPUUtilization")["threshold_p95"], 60);
}

TEST_F(ReportParametersTest, WhatIsUnknownOrContradictsIsRefusedByName) {
  const std::string report = kReport;
  const auto given = [](const std::string& parameter) {
    return Format(R"({{"rule":"ProfilerReport","parameters":{{"{}":200}}}})", parameter);
  };
  const std::pair<std::string, const char*> cases[] = {
      {report + R"(,{"rule":"IdleGPU"})",
       R"(the job has no rule 'LowGPUUtilization'; choose the rule itself, by )"
       R"({"parameters":{"threshold_p95":60},"rule":"LowGPUUtilization"})"},
      {report + R"(,{"rule":"LowGPUUtilization","parameters":{"threshold_p95":50}})",
       "LowGPUUtilization_threshold_p95 is 60, but LowGPUUtilization itself is given 50 as "
       "threshold_p95; give it once"},
      {given("Nope_x"),
       "there is no parameter 'Nope_x'; it has threshold, price_per_gpu_hour, and"},
      {given("IdleGPU"), "there is no parameter 'IdleGPU'"},
      {given("ProfilerReport_threshold"), "there is no parameter 'ProfilerReport_threshold'"},
      {given("IdleGPU_x") + R"(,{"rule":"IdleGPU"})",
       "IdleGPU: there is no parameter 'x'; it has threshold, minutes"},
      {given("IdleGPU_threshold") + R"(,{"rule":"IdleGPU"})",
       "IdleGPU: threshold is 200, but must be a number from 0 to 100 %"},
  };
  for (const auto& [rules, words] : cases) {
    ExpectProblem(Make(rules), 400, "invalid-body", words);
  }
  EXPECT_EQ(service_.GetJson("/api/v1/jobs")["total"], 0);
  Create("mlp");
  const Json problem = ApiService::JsonOf(Change(given("IdleGPU_threshold")));
  EXPECT_EQ(problem["errors"][0]["pointer"], "/configuration/rules/0/parameters") << problem;
  ExpectProblem(Change(given("IdleGPU_minutes") + R"(,{"name":"IdleGPU","remove":true})"), 400,
                "invalid-body", "IdleGPU_minutes: the same list removes that rule");
  EXPECT_EQ(Parameters("IdleGPU")["threshold"], 1);
}

}  // namespace
}  // namespace stepscope
