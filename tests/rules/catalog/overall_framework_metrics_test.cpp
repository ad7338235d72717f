#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "OverallFrameworkMetrics";

TEST(OverallFrameworkMetrics, TellsWhereTheTimeWent) {
  Scenario scenario;
  scenario.stretches = {{10}};
  scenario.ranks = {{5s, 100, 100ms, 20, 0, 10}, {5s, 300, 100ms, 60, 0, 10}};
  const auto outcome = Judge(kRule, MakeJob(scenario));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(outcome.verdict.sentence,
            "400 steps of 2 ranks, 100 ms in the mean: data 50.0 %, communication 10.0 %, 40.0 % "
            "outside of all phases.");
  EXPECT_TRUE(outcome.findings.empty());
  const Json& evidence = outcome.verdict.evidence;
  EXPECT_NEAR(evidence["phase_seconds"]["data"].get<double>(), 20, 1e-6);
  EXPECT_EQ(evidence["ranks"][1]["steps"], 300);
  EXPECT_NEAR(evidence["ranks"][1]["data_wait_percent"].get<double>(), 60, 1e-6);
  EXPECT_EQ(evidence["ranks"][0]["step_seconds"]["max"], 0.1);
}

TEST(OverallFrameworkMetrics, IsUnknownWithoutSteps) {
  Scenario none;
  none.stretches = {{10}};
  const auto verdict = Judge(kRule, MakeJob(none)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(verdict.sentence, "no steps reported");
}

TEST(OverallFrameworkMetrics, HasNoParameters) {
  EXPECT_FALSE(CompleteParameters(*FindRule(kRule), {{"threshold", 1}}).ok());
}

}  // namespace
}  // namespace stepscope::scenarios
