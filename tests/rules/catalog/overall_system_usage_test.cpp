#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "OverallSystemUsage";

TEST(OverallSystemUsage, TellsTheUsageOfEachNode) {
  Scenario scenario;
  scenario.nodes = 2;
  scenario.gpus = 2;
  scenario.stretches = {{900, 80, 40, 40, 3, 0}, {100, 10, 100, 100, 30, 0}};
  const auto outcome = Judge(kRule, MakeJob(scenario));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kClear);
  EXPECT_TRUE(outcome.findings.empty());
  const Json& nodes = outcome.verdict.evidence["nodes"];
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0]["samples"], 1000);
  EXPECT_EQ(nodes[0]["cpu"], Json({{"unit", "%"},
                                   {"max", 100.0},
                                   {"p99", 100.0},
                                   {"p95", 100.0},
                                   {"p90", 40.0},
                                   {"p50", 40.0},
                                   {"min", 40.0}}));
  EXPECT_EQ(nodes[0]["gpu"]["p50"], 80.0);
  EXPECT_EQ(nodes[1]["io_wait"]["max"], 30.0);
  EXPECT_TRUE(nodes[0]["gpu_memory"].is_null());  // it was not measured
}

TEST(OverallSystemUsage, CountsBytesAndRates) {
  Scenario scenario;
  scenario.stretches = {{200, 0, 10}};
  const auto outcome = Judge(kRule, MakeJob(scenario));
  const Json& network = outcome.verdict.evidence["nodes"][0]["network_receive"];
  EXPECT_EQ(network["unit"], "bytes/s");
  EXPECT_NEAR(network["p50"].get<double>(), 50, 8);
  EXPECT_NEAR(network["total_bytes"].get<double>(), 50 * 100, 600);  // 200 ticks of 0.5 s
}

TEST(OverallSystemUsage, NamesTheBusiestNode) {
  Scenario scenario;
  scenario.gpus = 0;
  scenario.stretches = {{200, 0, 80, 80, 0, 0}};
  EXPECT_EQ(Judge(kRule, MakeJob(scenario)).verdict.sentence,
            "Node node-0: 95th percentile of CPU 80.0 %, I/O wait 0.0 % over 200 samples.");
}

TEST(OverallSystemUsage, IsUnknownWithoutSamples) {
  const auto outcome = Judge(kRule, MakeJob({}));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(outcome.verdict.sentence, "no samples yet");
}

}  // namespace
}  // namespace stepscope::scenarios
