#include "server/store/rules/rules.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class DiagnosisTest : public ApiTest {
 protected:
  // The saved verdict of an evaluation of the rule.
  void Say(const std::string& job, const std::string& rule, const Json& verdict,
           const std::string& status) {
    const auto said = service_.database().Connect()->Query(
        "update rule_states s set verdict = $3, status = $4 from rule_configs c, jobs j "
        "where s.job_id = j.job_id and c.job_id = j.job_id and j.name = $1 and c.rule = $2 "
        "and c.rule_config_id = s.rule_config_id",
        {job, rule, Dump(verdict), status});
    ASSERT_TRUE(said.ok()) << said.error().message;
    EXPECT_EQ(said->affected(), 1);
  }
};

Json Evidence() {
  return {{"unit", "gpu_seconds"},
          {"total_seconds", 100},
          {"confidence", "steps seen"},
          {"steps", 980},
          {"ranks", 1},
          {"nodes", 1},
          {"threshold", 10},
          {"budget",
           {{{"cause", "busy"}, {"words", "busy"}, {"seconds", 25}, {"share", 0.25}},
            {{"cause", "preprocessing"},
             {"words", "preprocessing"},
             {"seconds", 75},
             {"share", 0.75},
             {"speed_up", 4.0},
             {"stage", 2},
             {"suspect", "data pipeline"},
             {"advice", "Use more workers."},
             {"rules", {"DataloaderBottleneck", "CPUBottleneck"}}}}}};
}

TEST_F(DiagnosisTest, IsTheReportsBudgetWithTheRulesThatSupportIt) {
  Create("train");
  Say("train", "ProfilerReport",
      {{"kind", "finding"}, {"sentence", "Most was lost."}, {"evidence", Evidence()}},
      "IssuesFound");
  Say("train", "DataloaderBottleneck",
      {{"kind", "finding"}, {"sentence", "It waited."}, {"severity", "high"}, {"active", true}},
      "IssuesFound");
  Say("train", "CPUBottleneck", {{"kind", "clear"}, {"sentence", "Fine."}}, "NoIssuesFound");
  const Json diagnosis = service_.GetJson("/api/v1/jobs/train/diagnosis");
  EXPECT_EQ(diagnosis["sentence"], "Most was lost.");
  EXPECT_EQ(diagnosis["total_seconds"], 100);
  ASSERT_EQ(diagnosis["budget"].size(), 2u);
  EXPECT_EQ(diagnosis["budget"][0]["cause"], "busy");
  EXPECT_EQ(diagnosis["budget"][0]["advice"], Json());
  const Json& lost = diagnosis["budget"][1];
  EXPECT_EQ(lost["speed_up"], 4.0);
  EXPECT_EQ(lost["support"], Json::array({{{"rule_configuration_name", "DataloaderBottleneck"},
                                           {"sentence", "It waited."},
                                           {"severity", "high"},
                                           {"active", true}}}));
  const Json in_short = service_.GetJson("/api/v1/jobs/train")["diagnosis"];
  EXPECT_EQ(in_short["sentence"], "Most was lost.");
  ASSERT_EQ(in_short["budget"].size(), 2u);
  EXPECT_EQ(in_short["budget"][1]["advice"], "Use more workers.");
  EXPECT_FALSE(in_short["budget"][1].contains("support"));
}

TEST_F(DiagnosisTest, SaysWhyThereIsNone) {
  Create("new");
  EXPECT_EQ(service_.GetJson("/api/v1/jobs/new").value("diagnosis", Json("?")), Json());
  const Json fresh = service_.GetJson("/api/v1/jobs/new/diagnosis");
  EXPECT_EQ(fresh["sentence"], "not evaluated yet");
  EXPECT_EQ(fresh["budget"], Json::array());
  EXPECT_EQ(fresh["total_seconds"], Json());
  service_.Post("/api/v1/jobs",
                R"({"name":"chosen","configuration":{"rules":[{"rule":"CPUBottleneck"}]}})");
  const Json without = service_.GetJson("/api/v1/jobs/chosen/diagnosis");
  EXPECT_EQ(without["sentence"],
            "the job is not judged by ProfilerReport, the rule that divides up its time");
  ExpectProblem(service_.Get("/api/v1/jobs/nope/diagnosis"), 404, "not-found", "nope");
}

}  // namespace
}  // namespace stepscope
