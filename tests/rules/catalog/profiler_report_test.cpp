#include <gtest/gtest.h>

#include "rules/diagnosis/budget.h"
#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "ProfilerReport";

// A job of 16 minutes with one rank, whose GPU and host look like `stretch` from its first step on.
Job Make(Stretch stretch, Phase phase, double percent, std::size_t gpus = 1) {
  Scenario scenario;
  scenario.gpus = gpus;
  stretch.ticks = 1980;
  scenario.stretches = {{20, 0, 5}, stretch};
  scenario.ranks = {{10s, 9800, 100ms, 0, 0}};
  Job job = MakeJob(scenario);
  for (Step& step : job.ranks[0].steps) {
    const auto nanoseconds = static_cast<double>(step.wall.count()) * percent / 100;
    step.phases[static_cast<std::size_t>(phase)] = Duration(static_cast<std::int64_t>(nanoseconds));
  }
  return job;
}

void AddThread(Job& job, double percent) {
  NodeTicks& node = job.nodes[0];
  node.series.push_back({"process_thread_cpu_percent", "0"});
  const std::vector<std::int64_t> values(node.at_us.size(), ToScaled(percent, 2));
  node.columns.push_back({2, values, {}});
}

struct Stage {
  const char* cause;  // the first in the ranking
  Stretch host;
  Phase phase;
  double percent;
  double thread = 20;  // CPU use of the training thread
};

constexpr double kQuiet = 30;  // percent of a core

const Stage kStages[] = {
    {"raw_data_input", {0, 20, kQuiet, 5, 60}, Phase::kData, 75},
    {"preprocessing", {0, 20, 98, 80, 1}, Phase::kData, 75},
    {"host_to_device", {0, 55, kQuiet}, Phase::kTransfer, 40},
    {"under_use", {0, 45, kQuiet}, Phase::kForward, 40},
    {"framework_overhead", {0, 45, 98}, Phase::kForward, 40, 98},
    {"communication", {0, 60, kQuiet}, Phase::kCommunication, 38},
    {"callbacks", {0, 60, kQuiet}, Phase::kCallback, 38},
    {"storage", {0, 60, kQuiet}, Phase::kCheckpoint, 38},
};

class Stages : public testing::TestWithParam<Stage> {};

TEST_P(Stages, RankTheirOwnCauseFirst) {
  Job job = Make(GetParam().host, GetParam().phase, GetParam().percent);
  AddThread(job, GetParam().thread);
  const Verdict verdict = Judge(kRule, job).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  const Json& budget = verdict.evidence["budget"];
  ASSERT_GE(budget.size(), 2u) << Dump(verdict.evidence);
  EXPECT_EQ(budget[0]["cause"], "busy");
  EXPECT_EQ(budget[1]["cause"], GetParam().cause) << verdict.sentence;
  EXPECT_GT(budget[1]["share"], 0.3);
  EXPECT_EQ(verdict.evidence["confidence"], "steps seen");
  double shares = 0;
  for (const Json& row : budget) shares += row["share"].get<double>();
  EXPECT_NEAR(shares, 1, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Each, Stages, testing::ValuesIn(kStages),
                         [](const auto& row) { return std::string(row.param.cause); });

TEST(ProfilerReport, SaysHowMuchAndWhatToGain) {
  const Verdict verdict = Judge(kRule, Make({0, 25, 98, 80, 1, 0}, Phase::kData, 75)).verdict;
  EXPECT_EQ(
      verdict.sentence,
      "The GPUs were busy 25.0 % of 990 GPU seconds; most was lost to preprocessing, 75.0 %.");
  const Json& first = verdict.evidence["budget"][1];
  EXPECT_NEAR(first["speed_up"].get<double>(), 1 / (1 - 0.75), 0.05);
  EXPECT_EQ(first["suspect"], "data pipeline");
  EXPECT_EQ(first["stage"], 2);
  EXPECT_EQ(first["rules"][0], "DataloaderBottleneck");
  EXPECT_FALSE(first.contains("cost"));
}

TEST(ProfilerReport, FindsNothingWrongWithAHealthyJob) {
  const Verdict verdict = Judge(kRule, Make({0, 98, 60, 20, 1}, Phase::kForward, 30)).verdict;
  EXPECT_NE(verdict.sentence.find("no bottleneck found"), std::string::npos) << verdict.sentence;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear);
}

TEST(ProfilerReport, GoesByTheHostWithoutSteps) {
  Scenario scenario;
  scenario.stretches = {{200, 0, 5}, {2000, 10, 20, 5, 60}};
  const Verdict verdict = Judge(kRule, MakeJob(scenario)).verdict;
  EXPECT_EQ(verdict.evidence["budget"][1]["cause"], "raw_data_input") << verdict.sentence;
  EXPECT_EQ(verdict.evidence["confidence"], "host only");
}

// A job that was made by an import alone.
TEST(ProfilerReport, GoesByWindowsWhereNothingElseIsKnown) {
  Scenario scenario;
  scenario.gpus = 0;
  Job job = MakeJob(scenario);
  job.nodes.clear();
  job.ranks.clear();
  WindowFacts window{.window = 1, .of_device = true, .steps = 4};
  window.step_s = 0.1;
  window.wall_s = 0.4;
  window.computing_s = 0.1;
  window.host_data_s = 0.2;
  window.other_idle_s = 0.1;
  job.facts.windows = {window};
  const Verdict verdict = Judge(kRule, job).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_TRUE(verdict.sentence.starts_with(
      "The GPUs were busy 25.0 % of 0.40 GPU seconds; most was lost to waits for input, 50.0 %; "
      "nothing explains 25.0 %."))
      << verdict.sentence;
  EXPECT_EQ(verdict.evidence["confidence"], "windows only");
  EXPECT_EQ(verdict.evidence["unit"], "gpu_seconds");
  EXPECT_EQ(verdict.evidence["budget"][1]["words"], "waits for input");
  EXPECT_NE(Dump(verdict.evidence["missing"]).find("The profiler makes"), std::string::npos);
  job.facts.windows[0].steps = 1;
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kUnknown) << "one whole step is few";
}

// Few steps are no reason to say that there were none, nor to ask for the phases that they told.
TEST(ProfilerReport, TellsFewStepsFromNone) {
  Scenario scenario;
  scenario.gpus = 0;
  scenario.stretches = {{60, 0, kQuiet}};
  scenario.ranks = {{2s, 15, 1s, 0, 0}};
  Job job = MakeJob(scenario);
  for (Step& step : job.ranks[0].steps) {
    step.phases = {};
    step.phases[static_cast<std::size_t>(Phase::kForward)] = step.wall / 4;
  }
  const Json evidence = Judge(kRule, job).verdict.evidence;
  EXPECT_EQ(evidence["confidence"], "few steps");
  EXPECT_EQ(evidence["steps"], 14);
  EXPECT_EQ(evidence["budget"][1]["cause"], "unknown");
  EXPECT_EQ(evidence["budget"][1]["advice"], AdviceOf(Cause::kUnknown, true));
  EXPECT_NEAR(evidence["named_share"].get<double>(), 0.25, 0.01);
}

// What is before the first step, and behind the last, is told apart and blamed for nothing.
TEST(ProfilerReport, RanksTheCausesOfTheTrainingAlone) {
  Scenario scenario;  // 5 minutes until the first step, and 2 in which a trace is written
  scenario.stretches = {{600, 0, 5}, {600, 97, 20}, {240, 0, 98, 95, 1}};
  scenario.ranks = {{300s, 2900, 100ms, 0, 0}};
  Job job = MakeJob(scenario);
  job.facts.first_rank = job.origin + 290s;
  const Verdict verdict = Judge(kRule, job).verdict;
  EXPECT_NE(verdict.sentence.find("no bottleneck found"), std::string::npos) << verdict.sentence;
  EXPECT_NEAR(verdict.evidence["total_seconds"].get<double>(), 290, 3);
  const Json& parts = verdict.evidence["parts"];
  EXPECT_NEAR(parts["initialisation"].get<double>(), 300, 3);
  EXPECT_NEAR(parts["training"].get<double>(), 290, 3);
  EXPECT_NEAR(parts["finalisation"].get<double>(), 130, 4);
  EXPECT_TRUE(verdict.sentence.ends_with(" The 2 min after the newest step are not counted."))
      << verdict.sentence;
}

TEST(ProfilerReport, DividesStepTimeWithoutAGpu) {
  const Verdict verdict = Judge(kRule, Make({0, 0, 98, 80, 1, 0}, Phase::kData, 75, 0)).verdict;
  EXPECT_EQ(verdict.sentence,
            "The steps were computing 0.0 % of 980 rank seconds; most was lost to preprocessing, "
            "75.0 %; nothing explains 25.0 %.");
  EXPECT_EQ(verdict.evidence["budget"][2]["speed_up"], nullptr) << "it may be no loss";
  EXPECT_EQ(verdict.evidence["unit"], "rank_seconds");
}

// Steps that are only counted may have waited as well as computed.
TEST(ProfilerReport, StepsThatTellOfNoWaitAreUnknown) {
  const Verdict verdict = Judge(kRule, Make({0, 0, 98, 80, 1, 0}, Phase::kForward, 25, 0)).verdict;
  EXPECT_EQ(verdict.sentence,
            "The steps were computing 25.0 % of 980 rank seconds; nothing explains 75.0 %.");
  EXPECT_EQ(verdict.evidence["budget"][1]["advice"], AdviceOf(Cause::kUnknown, true));
  EXPECT_EQ(verdict.kind, VerdictKind::kClear) << "nobody knows whether it is a loss";
}

TEST(ProfilerReport, TellsWhatItCosts) {
  const Job job = Make({0, 25, 98, 80, 1, 0}, Phase::kData, 75);
  const Json priced = Judge(kRule, job, {{"price_per_gpu_hour", 36}}).verdict.evidence;
  EXPECT_NEAR(priced["budget"][1]["cost"].get<double>(), 7.42, 0.05);
}

TEST(ProfilerReport, IsUnknownWithoutTimeToDivide) {
  Scenario scenario;
  scenario.gpus = 0;
  scenario.stretches = {{500, 0, 50}};
  const Verdict none = Judge(kRule, MakeJob(scenario)).verdict;
  EXPECT_EQ(none.kind, VerdictKind::kUnknown);
  EXPECT_EQ(none.sentence, "no GPU and no steps seen: there is no time to divide up");
  scenario.gpus = 1;
  scenario.stretches = {{5, 0, 50}};
  EXPECT_EQ(Judge(kRule, MakeJob(scenario)).verdict.sentence,
            "0.0 of 10 s seen after the start of the job");
}

}  // namespace
}  // namespace stepscope::scenarios
