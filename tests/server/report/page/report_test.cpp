#include "server/report/measure/step_summary.h"
#include "server/report/page/rule_uses.h"
#include "server/report/page/sections.h"
#include "server/report/text/format.h"
#include "server/store/rules/create_job.h"
#include "tests/server/report/page/report_fixture.h"

namespace stepscope::scenarios {
namespace {

class GatherTest : public ReportTest {};

TEST_F(GatherTest, AJobOfSixteenGpusHasAllSections) {
  Judge(MakeJob(SixteenGpus()), true);
  const Report report = Gather();
  EXPECT_FALSE(report.running);
  EXPECT_EQ(report.Gpus(), 16u);
  EXPECT_EQ(report.url, kUrl + "/jobs/train");
  EXPECT_NEAR(report.times.Initialisation().value(), 310, 1);
  ASSERT_TRUE(report.times.phases);  // one source: what the diagnosis says
  EXPECT_EQ(report.diagnosis["parts"]["initialisation"], *report.times.Initialisation());
  EXPECT_EQ(report.verdict, JobVerdict::kIssues);
  EXPECT_NEAR(report.times.Loop().value(), 1'800 * 0.301, 1);
  EXPECT_TRUE(report.times.Finalisation());
  // The job ended long after its newest sample: nobody saw what was between.
  EXPECT_NEAR(*report.times.Initialisation() + *report.times.Loop() + *report.times.Finalisation(),
              899.5, 1e-6);
  EXPECT_EQ(report.times.Seconds(), 9'000);
  EXPECT_EQ(report.steps.size(), 16u);
  EXPECT_EQ(report.ranks_left_out, 0u);
  double shares = 0;
  for (const auto& phase : report.phases.phases) shares += phase.share_percent;
  EXPECT_NEAR(shares, 100, 0.1);
  EXPECT_GT(report.diagnosis["budget"].size(), 2u);
  EXPECT_EQ(report.rules.size() + 1, Catalog().size());  // all but the rule that sums up
}

TEST_F(GatherTest, RulesComeByTriggersAndTheUnjudgedLast) {
  Judge(MakeJob(SixteenGpus()), true);
  const Report report = Gather();
  ASSERT_GT(report.rules.size(), 5u);
  EXPECT_EQ(report.rules[0].status, RuleStatus::kIssuesFound);
  bool quiet = false, unjudged = false;
  std::int64_t before = INT64_MAX;
  for (const RuleSection& rule : report.rules) {
    const bool issues = rule.status == RuleStatus::kIssuesFound;
    EXPECT_FALSE(issues && quiet) << rule.rule;
    EXPECT_FALSE(rule.judged && unjudged && !issues) << rule.rule;
    if (issues) {
      EXPECT_LE(rule.triggers, before) << rule.rule;
      EXPECT_GT(rule.triggers, 0) << rule.rule;
      before = rule.triggers;
    }
    quiet |= !issues;
    unjudged |= !rule.judged;
  }
}

TEST_F(GatherTest, ParametersAreGivenAsUsedInSamplesAndInTime) {
  Judge(MakeJob(SixteenGpus()), true);
  const Report report = Gather();
  const RuleSection* rule = Find(report, "LowGPUUtilization");
  ASSERT_NE(rule, nullptr);
  const auto window = std::ranges::find(rule->parameters, "window", &UsedParameter::name);
  ASSERT_NE(window, rule->parameters.end());
  EXPECT_EQ(window->samples, 500);
  EXPECT_EQ(window->seconds, 250);
  EXPECT_EQ(rule->parameters[0].samples, std::nullopt);
}

TEST_F(GatherTest, TheLongestFindingsAreShownAndAllAreCounted) {
  const std::int64_t job_id = Judge(MakeJob(Small()), false);
  const std::int64_t rule_id = State(job_id, "StalledTraining").config.rule_config_id;
  for (int i = 1; i <= 12; ++i) {
    Run("insert into findings (job_id, rule_config_id, finding, from_us, to_us, node, device, "
        "rank, "
        "sentence, evidence) values ($1, $2, $3, $4, $5, '', '', -1, 'It stalled.', '{}')",
        {job_id, rule_id, i, kOriginUs + i, kOriginUs + i + i * 1'000'000});
  }
  const Report report = Gather();
  const RuleSection* rule = Find(report, "StalledTraining");
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->findings_total, 12);
  EXPECT_EQ(rule->triggers, 12);
  ASSERT_EQ(rule->findings.size(), std::size_t{kFindingsShown});
  EXPECT_EQ(rule->findings[0].finding, 12);
  EXPECT_EQ(rule->findings[4].finding, 8);
}

TEST_F(GatherTest, DevicesHaveTheirOwnDistribution) {
  Judge(MakeJob(SixteenGpus()), true);
  const Report report = Gather();
  const auto idle = report.uses.all().find({"gpu_util_percent", "node-1", "3"});
  ASSERT_NE(idle, report.uses.all().end());
  EXPECT_EQ(idle->second.count(), 1'800u);
  EXPECT_EQ(idle->second.Percentile(0.95), 0);
  EXPECT_EQ(idle->second.Spread(20)[0], 1'800u);
  const auto busy = report.uses.all().find({"gpu_util_percent", "node-0", "0"});
  ASSERT_NE(busy, report.uses.all().end());
  EXPECT_NEAR(busy->second.Percentile(0.5), 40, 25);
  EXPECT_LE(busy->second.Line().size(), std::size_t(DeviceUses::kPoints));
}

// Busy GPUs on two nodes, which heat holds down on the second one from 5 minutes on.
Scenario HotNode() {
  Scenario scenario;
  scenario.stretches = {{900, 95, 40}};
  scenario.nodes = 2;
  scenario.ranks = {{10s, 400, 300ms, 30, 10}};
  for (const char* metric : {"gpu_thermal_throttle_percent", "gpu_power_throttle_percent"}) {
    const bool heat = metric == std::string_view("gpu_thermal_throttle_percent");
    scenario.extras.push_back({{metric, "0"}, [heat](std::size_t node, std::size_t tick) {
                                 const bool held = heat && node == 1 && tick >= 600;
                                 return std::optional<double>(held ? 100 : 0);
                               }});
  }
  return scenario;
}

TEST_F(GatherTest, AHeldDownGpuHasAPictureOfWhen) {
  Judge(MakeJob(HotNode()), true);
  const Report report = Gather();
  const RuleSection* rule = Find(report, "GPUThrottled");
  ASSERT_NE(rule, nullptr);
  ASSERT_EQ(rule->status, RuleStatus::kIssuesFound);
  const std::string picture = RulePicture(report, *rule).text();
  EXPECT_NE(picture.find("Samples of node-1 in which heat held a GPU down"), picture.npos);
  EXPECT_EQ(picture.find("a power limit held a GPU down"), picture.npos);
  EXPECT_NE(picture.find("\"shade\""), picture.npos);
  EXPECT_NE(picture.find("Shaded: where it fired."), picture.npos);
}

TEST_F(GatherTest, ACustomRuleHasAPictureOfItsMetric) {
  Judge(MakeJob(HotNode()), true);
  Report report = Gather();
  RuleSection rule;
  rule.rule = "Custom";
  rule.judged = true;
  rule.parameters = {{"metric", "gpu_thermal_throttle_percent", "", "", {}, {}},
                     {"threshold", 25, "", "", {}, {}}};
  rule.answer = {{"evidence", {{"devices", {{{"node", "node-1"}, {"device", "0"}}}}}}};
  const auto range = WholeRange(*LoadJobHead(*connection_, "train"));
  ASSERT_TRUE(ReadRuleUses(*connection_, range, rule).ok());
  const std::string picture = RulePicture(report, rule).text();
  EXPECT_NE(picture.find("gpu_thermal_throttle_percent of node-1"), picture.npos) << picture;
  EXPECT_EQ(picture.find("node-0"), picture.npos);
  EXPECT_NE(picture.find("Dashed: the threshold, 25.0 %."), picture.npos);
  EXPECT_NE(picture.find("class=\"mark\""), picture.npos);
}

// The mean of all time is less than what half of the samples are above.
TEST_F(GatherTest, TheSentenceOfUsageSaysWhatWasCounted) {
  Judge(MakeJob(HotNode()), true);
  EXPECT_TRUE(
      Gather().usage_sentence.ends_with(" Of its GPUs' samples more than half are above 70 %."))
      << Gather().usage_sentence;
}

TEST_F(GatherTest, TheTableOfUsageHasWhatWasSentInAll) {
  Judge(MakeJob(SixteenGpus()), true);
  const Report report = Gather();
  const std::string table = UsageSection(report).text();
  const OrderedJson& node = Find(report, "OverallSystemUsage")->answer["evidence"]["nodes"][0];
  const double sent = node["network_send"]["total_bytes"].get<double>();
  EXPECT_NEAR(sent, 900 * (1e6 + 2e8 / 12), 1e9);
  EXPECT_NE(table.find(">" + FormatBytes(sent) + "</td></tr>"), table.npos) << FormatBytes(sent);
}

// Only the first eight nodes have pictures.
TEST_F(GatherTest, NodesAreInTheOrderInWhichPeopleCount) {
  Judge(MakeJob(Small(12)), true);
  const Report report = Gather();
  ASSERT_EQ(report.nodes.size(), 12u);
  EXPECT_EQ(report.nodes[2].name, "node-2");
  EXPECT_EQ(report.nodes[11].name, "node-11");
  const auto third = std::ranges::find_if(report.usage.rows, [](const UsageRow& row) {
    return row.node != "node-0" && row.node != "node-1";
  });
  EXPECT_EQ(third->node, "node-2");
  const std::string usage = UsageSection(report).text();
  EXPECT_NE(usage.find("GPU utilisation of node-7:"), usage.npos);
  EXPECT_EQ(usage.find("GPU utilisation of node-10:"), usage.npos);
  const std::string bottlenecks = RulePicture(report, *Find(report, "CPUBottleneck")).text();
  EXPECT_LT(bottlenecks.find(">node-2<"), bottlenecks.find(">node-10<"));
}

TEST_F(GatherTest, ARunningJobIsAsOfNow) {
  Judge(MakeJob(Small()), false);
  const Report report = Gather("train", 700);
  EXPECT_TRUE(report.running);
  EXPECT_EQ(report.as_of_us, ToMicros(After(700)));
  EXPECT_EQ(report.times.Finalisation(), std::nullopt);
  EXPECT_EQ(ToJson(report)["summary"]["end"], nullptr);
}

TEST_F(GatherTest, AJobWithNothingAtAllStillHasAReport) {
  NewJob made;
  made.name = "bare";
  ASSERT_TRUE(CreateJob(*connection_, made, kOriginUs).ok());
  const Report report = Gather("bare");
  EXPECT_TRUE(report.rules.empty());
  EXPECT_EQ(report.times.Initialisation(), std::nullopt);
  EXPECT_TRUE(report.usage.rows.empty());
  EXPECT_EQ(report.Gpus(), 0u);
  EXPECT_EQ(report.diagnosis["sentence"],
            "the job is not judged by ProfilerReport, the rule that divides up its time");
}

TEST_F(GatherTest, AJobThatThereIsNotIsNamed) {
  const auto report = GatherReport(*connection_, {"nope", kUrl, "1", 0});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, Code::kNotFound);
  EXPECT_NE(report.error().message.find("nope"), std::string::npos);
}

// 1.046 % is 1.0 % to one digit; rounded to two digits before it would be 1.1 %.
TEST(StepSummary, SharesAreRoundedOnceAndInJson) {
  StepSummary summary;
  Step step;
  step.wall = 100s;
  step.phases[static_cast<std::size_t>(Phase::kLoss)] = 1'046ms;
  summary.Add(step);
  const StepFigures figures = summary.Finish(1);
  EXPECT_EQ(FormatPercent(figures.phases[0].share_percent), "1.0 %");
  OrderedJson json;
  Put(figures, json);
  EXPECT_EQ(json["phases"][0]["share_percent"], 1.05);
}

TEST_F(GatherTest, TheSharesOfAllRanksAreNotRounded) {
  Judge(MakeJob(SixteenGpus()), true);
  const Report report = Gather();
  for (const StepFigures::PhaseSum& sum : report.phases.phases) {
    EXPECT_DOUBLE_EQ(sum.share_percent, 100 * sum.seconds / report.phases.seconds) << sum.phase;
  }
}

TEST(DeviceUse, DrawsAGapOnlyWhereNothingWasMeasured) {
  DeviceUses uses;
  uses.Begin(0, 100'000'000, 500'000);
  DeviceUse& use = uses.Of("a", "gpu_util_percent", "0");
  for (std::int64_t at_us = 0; at_us < 100'000'000; at_us += 5'000'000) {  // a slow source
    if (at_us < 40'000'000 || at_us > 70'000'000) use.Add(at_us, 50, 50, 50);
  }
  int gaps = 0;
  const auto line = use.Line();
  for (std::size_t i = 1; i < line.size(); ++i) {
    gaps += line[i].at_us - line[i - 1].at_us > use.LeastGapUs(500'000) ? 1 : 0;
  }
  EXPECT_EQ(gaps, 1);
}

TEST(DeviceUse, CountsBothEnds) {
  DeviceUses uses;
  uses.Begin(0, 1'000'000, 1);
  DeviceUse& use = uses.Of("a", "gpu_util_percent", "0");
  for (const double value : {0.0, 100.0, 100.0, 99.99}) use.Add(1, value, value, value);
  EXPECT_EQ(use.Spread(20).front(), 1u);
  EXPECT_EQ(use.Spread(20).back(), 3u);
  EXPECT_EQ(use.Percentile(0.25), 0);
  EXPECT_EQ(use.Percentile(0.5), 100);
}

}  // namespace
}  // namespace stepscope::scenarios
