#include <map>

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
  return {
      {"unit", "gpu_seconds"},
      {"total_seconds", 100},
      {"confidence", "steps seen"},
      {"steps", 980},
      {"ranks", 1},
      {"nodes", 1},
      {"threshold", 10},
      {"clock", "gpu"},
      {"named_share", 0.9},
      {"missing", {"The second node."}},
      {"parts", {{"initialisation", 4}, {"training", 90}, {"evaluation", 1}, {"finalisation", 5}}},
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

TEST_F(DiagnosisTest, GpusWithoutWorkAreNamedWhereTheyAreMostOfTheLoss) {
  Create("train");
  Json evidence = Evidence();
  evidence["budget"][1]["cause"] = "under_use";
  const auto report = [&](double idle_seconds) {
    Say("train", "ProfilerReport",
        {{"kind", "finding"}, {"sentence", "Most was lost."}, {"evidence", evidence}},
        "IssuesFound");
    Say("train", "IdleGPU",
        {{"kind", "finding"},
         {"sentence", "GPU 3 is idle."},
         {"evidence",
          {{"advice", "Give GPU 3 work."}, {"gpus", {{{"idle_seconds", idle_seconds}}}}}}},
        "IssuesFound");
    const Json job = service_.GetJson("/api/v1/jobs/train");
    const Json whole = service_.GetJson("/api/v1/jobs/train/diagnosis");
    EXPECT_EQ(job["diagnosis"]["budget"][1]["advice"], whole["budget"][1]["advice"]);
    return whole["budget"][1]["advice"];
  };
  EXPECT_EQ(report(40), "Give GPU 3 work.");
  EXPECT_EQ(report(30), "Use more workers.");
  evidence["budget"][1]["cause"] = "preprocessing";
  EXPECT_EQ(report(40), "Use more workers.");
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
  for (const char* seen : {"clock", "named_share", "missing", "parts"}) {
    EXPECT_EQ(in_short[seen], Evidence()[seen]) << seen;
    EXPECT_EQ(diagnosis[seen], Evidence()[seen]) << seen;
  }
}

// The budget's newest sample is a little before the end of the job, which is when finalisation
// ends.
TEST_F(DiagnosisTest, TheLastPhaseEndsWithTheJobThatEndedWithinATick) {
  Create("train");
  Say("train", "ProfilerReport", {{"kind", "clear"}, {"sentence", "."}, {"evidence", Evidence()}},
      "NoIssuesFound");
  const auto finalisation = [&](std::int64_t job_us) {
    EXPECT_TRUE(service_.database().Connect()->Query(
        "update jobs set status = 'Completed', started_us = created_us, ended_us = created_us + $1",
        {job_us}));
    const Json whole = service_.GetJson("/api/v1/jobs/train/diagnosis")["parts"];
    EXPECT_EQ(service_.GetJson("/api/v1/jobs/train")["diagnosis"]["parts"], whole);
    const Json summary = service_.GetJson("/api/v1/jobs/train/report")["summary"];
    EXPECT_EQ(summary["finalisation"]["seconds"], whole["finalisation"]);
    EXPECT_EQ(summary["initialisation"]["seconds"], whole["initialisation"]);
    EXPECT_EQ(summary["evaluation"]["seconds"], whole["evaluation"]);
    EXPECT_EQ(summary["training_loop"]["seconds"], 91);
    return whole["finalisation"].get<double>();
  };
  EXPECT_DOUBLE_EQ(finalisation(100'200'000), 5.2);
  EXPECT_DOUBLE_EQ(finalisation(99'900'000), 4.9);
  EXPECT_DOUBLE_EQ(finalisation(160'000'000), 5);  // nobody saw what was behind the newest sample
}

std::vector<std::string> ListedNames(const Json& page) {
  std::vector<std::string> names;
  for (const Json& item : page["items"]) names.push_back(item["name"]);
  return names;
}

TEST_F(DiagnosisTest, AJobThatWasNeverJudgedHasNoVerdictWhateverItsStatuses) {
  for (const char* name : {"open", "calm", "slow"}) Create(name);
  const auto post = [&](const std::string& body) {
    EXPECT_EQ(StatusOf(service_.Post("/api/v1/jobs", body)), 201);
  };
  post(R"({"name":"chosen","configuration":{"rules":[{"rule":"CPUBottleneck"}]}})");
  post(R"({"name":"bare","configuration":{"rules":[]}})");
  const Json clear = {{"kind", "clear"}, {"sentence", "Fine."}};
  const Json unknown = {{"kind", "unknown"}, {"sentence", "no GPU"}};
  Say("open", "ProfilerReport", unknown, "NoIssuesFound");
  Say("open", "CPUBottleneck", clear, "NoIssuesFound");
  Say("calm", "ProfilerReport", clear, "NoIssuesFound");
  Say("slow", "CPUBottleneck", {{"kind", "finding"}, {"sentence", "Slow."}}, "IssuesFound");
  Say("chosen", "CPUBottleneck", clear, "NoIssuesFound");
  const std::map<std::string, std::vector<std::string>> expected = {
      {"issues", {"slow"}}, {"none", {"calm", "chosen"}}, {"unknown", {"bare", "open"}}};
  for (const auto& [verdict, names] : expected) {
    const Json page = service_.GetJson("/api/v1/jobs?sort=name&verdict=" + verdict);
    EXPECT_EQ(ListedNames(page), names) << verdict;
    EXPECT_EQ(page["total"], names.size());
    for (const Json& item : page["items"]) EXPECT_EQ(item["verdict"], verdict) << item;
    for (const std::string& name : names) {
      EXPECT_EQ(service_.GetJson("/api/v1/jobs/" + name)["verdict"], verdict) << name;
      EXPECT_EQ(service_.GetJson("/api/v1/jobs/" + name + "/report")["job"]["verdict"], verdict);
    }
  }
  const Json first = service_.GetJson("/api/v1/jobs?sort=name&limit=2&verdict=none,unknown");
  EXPECT_EQ(ListedNames(first), (std::vector<std::string>{"bare", "calm"}));
  EXPECT_EQ(
      ListedNames(service_.GetJson("/api/v1/jobs?sort=name&limit=2&verdict=none,unknown&cursor=" +
                                   first["next"].get<std::string>())),
      (std::vector<std::string>{"chosen", "open"}));
  ExpectProblem(service_.Get("/api/v1/jobs?verdict=good"), 400, "invalid-parameter");
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
