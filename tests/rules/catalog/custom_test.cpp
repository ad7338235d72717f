#include <gtest/gtest.h>

#include "rules/engine/state.h"
#include "rules/stats/window_values.h"
#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "Custom";

Json Given(const Json& further = Json::object()) {
  Json given = {{"metric", "gpu_power_watts"}, {"threshold", 300}, {"patience", 0}};
  given.update(further);
  return given;
}

// Two GPUs of each node; the second draws `watts` in a part of the time.
Scenario Power(double watts, std::size_t from, std::size_t to, std::size_t nodes = 1) {
  Scenario scenario;
  scenario.nodes = nodes;
  scenario.gpus = 2;
  scenario.stretches = {{1440, 90}};
  scenario.extras = {{{"gpu_power_watts", "0"}, [](auto, auto) { return 250.0; }},
                     {{"gpu_power_watts", "1"},
                      [=](auto, auto tick) { return tick >= from && tick < to ? watts : 200.0; }}};
  return scenario;
}

std::string Refusal(const Json& given) {
  const auto complete = CompleteParameters(*FindRule(kRule), given);
  return complete.ok() ? "accepted" : complete.error().message;
}

TEST(Custom, FiresForTheDeviceAndTheTime) {
  const Job job = MakeJob(Power(320, 240, 600));
  const auto outcome = Judge(kRule, job, Given());
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.sentence,
            "The mean of gpu_power_watts over 120 samples (60 s) was 320 W on GPU 1 of node "
            "node-0; the threshold is 300 W; 1 of 2 devices fired 3 times in 11 scans, the last 5 "
            "min after the first sample.");
  EXPECT_FALSE(outcome.verdict.active);
  EXPECT_DOUBLE_EQ(outcome.verdict.share, 3.0 / 22);  // the last window is not over
  EXPECT_EQ(outcome.verdict.severity, Severity::kMedium);
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject, (Subject{"node-0", "1", -1}));
  EXPECT_EQ(outcome.findings[0].from, job.origin + 120s);
  EXPECT_EQ(outcome.findings[0].to, job.origin + 300s);
  EXPECT_EQ(outcome.verdict.evidence["devices"][1]["crossed"], 3);
}

// Short windows: two of them in each scan.
TEST(Custom, ShareIsThatOfWindowsAndNotOfScans) {
  const Job job = MakeJob(Power(320, 240, 300));
  const auto verdict = Judge(kRule, job, Given({{"window", 60}})).verdict;
  EXPECT_EQ(verdict.evidence["devices"][1]["crossed"], 1);
  EXPECT_DOUBLE_EQ(verdict.share,
                   1.0 / (2 * verdict.evidence["devices"][1]["windows"].get<double>()));
  EXPECT_EQ(verdict.severity, Severity::kLow);
}

TEST(Custom, IsActiveWhileTheNewestWindowCrosses) {
  EXPECT_TRUE(Judge(kRule, MakeJob(Power(320, 1200, 1440)), Given()).verdict.active);
}

TEST(Custom, IsClearWhereNoWindowCrosses) {
  const auto outcome = Judge(kRule, MakeJob(Power(300, 240, 600)), Given());
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(outcome.verdict.sentence,
            "The mean of gpu_power_watts over 120 samples (60 s) was 300 W on GPU 1 of node "
            "node-0; the threshold is 300 W, the highest of all; 2 devices judged.");
  EXPECT_TRUE(outcome.findings.empty());
}

TEST(Custom, FiresOnlyAboveItsShareOfWindows) {
  const Job job = MakeJob(Power(320, 240, 600));  // 3 of 12 windows, at most 3 of 5
  EXPECT_EQ(Judge(kRule, job, Given({{"share", 60}})).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, job, Given({{"share", 59}})).verdict.kind, VerdictKind::kFinding);
}

TEST(Custom, TakesMoreThanAllOfACoreWhereSeveralCount) {
  EXPECT_EQ(Refusal(Given({{"metric", "process_cpu_percent"}, {"threshold", 400}})), "accepted");
  EXPECT_EQ(Refusal(Given({{"metric", "process_cpu_percent"}, {"threshold", 100}})), "accepted");
  EXPECT_NE(Refusal(Given({{"metric", "process_cpu_percent"}, {"threshold", -1}})), "accepted");
  EXPECT_NE(Refusal(Given({{"metric", "node_cpu_percent"}, {"threshold", 400}})), "accepted");
}

TEST(Custom, ComparesBelowAndEachAggregation) {
  Scenario ramp;
  ramp.stretches = {{400, 90}};
  ramp.extras = {{{"user.loss", ""}, [](auto, auto tick) { return double(tick % 100) - 50; }}};
  const std::pair<const char*, double> values[] = {{"mean", -0.5}, {"min", -50}, {"max", 49},
                                                   {"p5", -46},    {"p50", -1},  {"p95", 44}};
  for (const auto& [aggregation, value] : values) {
    Json given = {{"metric", "user.loss"},
                  {"window", 100},
                  {"patience", 0},
                  {"threshold", value},
                  {"aggregation", aggregation}};
    EXPECT_EQ(Judge(kRule, MakeJob(ramp), given).verdict.kind, VerdictKind::kClear) << aggregation;
    given["threshold"] = value - 0.01;
    EXPECT_EQ(Judge(kRule, MakeJob(ramp), given).verdict.kind, VerdictKind::kFinding)
        << aggregation;
    given["comparison"] = "below";
    EXPECT_EQ(Judge(kRule, MakeJob(ramp), given).verdict.kind, VerdictKind::kClear) << aggregation;
    given["threshold"] = value + 0.01;
    EXPECT_EQ(Judge(kRule, MakeJob(ramp), given).verdict.kind, VerdictKind::kFinding)
        << aggregation;
  }
}

TEST(Custom, JudgesANodeByTheMeanOfItsDevices) {
  const Job job = MakeJob(Power(350, 240, 600, 2));
  const auto outcome = Judge(kRule, job, Given({{"per", "node"}, {"threshold", 299}}));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  ASSERT_EQ(outcome.findings.size(), 2u);
  EXPECT_EQ(outcome.findings[0].subject.device, "");
  EXPECT_NE(outcome.findings[0].sentence.find("was 300 W on node node-"), std::string::npos);
}

TEST(Custom, DoesNotJudgeTheStart) {
  const Job job = MakeJob(Power(320, 0, 500));
  EXPECT_EQ(Judge(kRule, job, Given({{"patience", 500}})).verdict.kind, VerdictKind::kClear);
}

TEST(Custom, IsUnknownWithoutSamplesOrAWholeWindow) {
  const Job job = MakeJob(Power(320, 0, 500));
  EXPECT_EQ(Judge(kRule, job, Given({{"metric", "user.loss"}})).verdict.sentence,
            "no node gives samples of user.loss");
  EXPECT_EQ(Judge(kRule, job, Given({{"window", "1h"}})).verdict.sentence,
            "no window of 7,200 samples (3600 s) of gpu_power_watts is over yet");
  EXPECT_EQ(Judge(kRule, job, Given({{"patience", 5000}})).verdict.sentence,
            "1,440 of 5,000 samples seen");
}

// A metric that is read every minute has windows of the same length.
TEST(Custom, WindowsAreStretchesOfTime) {
  Scenario slow = Power(320, 240, 600);
  for (Extra& extra : slow.extras) {
    extra.value = [value = extra.value](auto node, auto tick) {
      return tick % 120 == 5 ? value(node, tick) : std::nullopt;
    };
  }
  const auto outcome = Judge(kRule, MakeJob(slow), Given());
  EXPECT_EQ(outcome.verdict.evidence["devices"][1]["crossed"], 3);
  ASSERT_EQ(outcome.findings.size(), 1u);
}

TEST(Custom, SaysTheSameInAnySlices) {
  const Json choices[] = {
      Given(), Given({{"window", 7}, {"aggregation", "p95"}, {"share", 10}}),
      Given({{"window", "90s"}, {"aggregation", "p5"}, {"comparison", "below"}}),
      Given({{"per", "node"}, {"threshold", 240}, {"patience", "60s"}}),
      Given({{"metric", "gpu_util_percent"}, {"threshold", 89.5}})};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Scenario scenario = Power(320, 200 * seed, 900, seed);
    scenario.seed = seed;
    scenario.missing = 0.1;
    if (seed == 2) scenario.ranks = {{20s, 900, 300ms, 18, 15}};
    const Job job = MakeJob(scenario);
    for (const Json& given : choices) {
      const std::string whole = ToText(Judge(kRule, job, given));
      for (std::uint64_t slicing = 1; slicing <= 4; ++slicing) {
        ASSERT_EQ(whole, ToText(Judge(kRule, job, given, slicing))) << given << slicing;
      }
    }
  }
}

TEST(Custom, RefusesWhatIsWrongWithNameValueAndRange) {
  EXPECT_EQ(Refusal(Given()), "accepted");
  EXPECT_EQ(Refusal(Given({{"metric", "gpu_powr"}})),
            "Custom: metric is \"gpu_powr\", but must be a metric that agents send, such as "
            "gpu_util_percent, or one of your own, such as user.loss");
  EXPECT_EQ(Refusal({{"threshold", 1}}),
            "Custom: metric must be given, as a metric that agents send, such as gpu_util_percent, "
            "or one of your own, such as user.loss");
  EXPECT_EQ(Refusal({{"metric", "user.loss"}}),
            "Custom: threshold must be given, as a number in the unit of the metric");
  EXPECT_EQ(Refusal(Given({{"metric", "gpu_util_percent"}})),
            "Custom: threshold is 300, but must be a number from 0 to 100 %, the unit of "
            "gpu_util_percent, and below 100: nothing is above that");
  EXPECT_EQ(Refusal(Given({{"aggregation", "p99"}})),
            "Custom: aggregation is \"p99\", but must be one of mean, min, max, p5, p50, p95");
  EXPECT_EQ(Refusal(Given({{"comparison", "equal"}})),
            "Custom: comparison is \"equal\", but must be one of above, below");
  EXPECT_EQ(Refusal(Given({{"metric", 7}})),
            "Custom: metric is 7, but must be a metric that agents send, such as "
            "gpu_util_percent, or one of your own, such as user.loss");
  EXPECT_NE(Refusal(Given({{"window", 0}})), "accepted");
  EXPECT_NE(Refusal(Given({{"share", 101}})), "accepted");
  EXPECT_EQ(Refusal(Given({{"share", 100}})),
            "Custom: share is 100, but must be below 100 %: more than all cannot count");
  const Json use = {{"metric", "gpu_util_percent"}, {"threshold", 100}};
  EXPECT_EQ(Refusal(Given(use)),
            "Custom: threshold is 100, but must be a number from 0 to 100 %, the unit of "
            "gpu_util_percent, and below 100: nothing is above that");
  Json below = use;
  below["comparison"] = "below";
  EXPECT_EQ(Refusal(Given(below)), "accepted");
  below["threshold"] = 0;
  EXPECT_NE(Refusal(Given(below)), "accepted");
  EXPECT_NE(Refusal(Given({{"per", "rank"}})), "accepted");
}

TEST(WindowValues, PercentilesOfLongWindowsKeepAPart) {
  WindowValues values;
  for (int i = 0; i < 100'000; ++i) values.Add(i, Aggregation::kP50, 100'000);
  EXPECT_NEAR(values.Of(Aggregation::kP50), 50'000, 50);
  WindowValues fast;  // more samples than were expected
  for (int i = 0; i < 100'000; ++i) fast.Add(i, Aggregation::kP95, 10);
  EXPECT_LT(SaveFields(fast).size(), 65'000u);
}

}  // namespace
}  // namespace stepscope::scenarios
