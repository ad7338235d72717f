#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "NetworkBottleneck";
constexpr double kGigabit = 125e6;  // bytes/s

// The speed of the link is read at every 60th tick.
Scenario Receives(double gpu, double bytes, std::size_t ticks = 2000) {
  Scenario scenario;
  scenario.stretches = {{ticks, gpu, 20}};
  scenario.extras = {
      {{"network_receive_bytes_per_second", "eth0"}, [=](auto, auto) { return bytes; }},
      {{"network_link_bytes_per_second", "eth0"},
       [](auto, auto tick) { return tick % 60 == 0 ? std::optional(kGigabit) : std::nullopt; }}};
  return scenario;
}

TEST(NetworkBottleneck, FiresWhenTheLinkIsFullAndAGpuIdles) {
  const auto outcome = Judge(kRule, MakeJob(Receives(20, 0.95 * kGigabit)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.sentence,
            "A GPU was below 30 % while its node received above 90 % of what an interface carries "
            "in 100.0 % of 1,000 samples (500 s); the threshold is 30 %.");
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.node, "node-0");
}

TEST(NetworkBottleneck, IsClearWhenTheGpuIsBusyOrTheLinkIsNotFull) {
  EXPECT_EQ(Judge(kRule, MakeJob(Receives(80, 0.95 * kGigabit))).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, MakeJob(Receives(20, 0.5 * kGigabit))).verdict.kind, VerdictKind::kClear);
}

// Without a speed the interface is taken to carry the most that it once sustained: with 50 MB/s, 47
// are full and 20 are not; an interface without real traffic is never full.
TEST(NetworkBottleneck, GoesByTheMostThatWasSustainedWhereTheSpeedIsNotKnown) {
  const auto after = [](double first, double later) {
    Scenario scenario = Receives(20, 0);
    scenario.extras.pop_back();
    scenario.extras[0].value = [=](auto, auto tick) { return tick < 900 ? first : later; };
    return Judge(kRule, MakeJob(scenario)).verdict.kind;
  };
  EXPECT_EQ(after(50e6, 47e6), VerdictKind::kFinding);
  EXPECT_EQ(after(50e6, 20e6), VerdictKind::kClear);
  EXPECT_EQ(after(2e3, 2e3), VerdictKind::kClear);
}

TEST(NetworkBottleneck, IsUnknownWithoutGpuOrSamples) {
  Scenario no_gpu = Receives(20, kGigabit), silent = Receives(20, kGigabit);
  no_gpu.gpus = 0;
  EXPECT_EQ(Judge(kRule, MakeJob(no_gpu)).verdict.sentence, "no GPU on any node");
  silent.extras[0].value = [](auto, auto) { return std::nullopt; };
  EXPECT_EQ(Judge(kRule, MakeJob(silent)).verdict.sentence,
            "no sample has a GPU's use and a network interface's");
  EXPECT_EQ(Judge(kRule, MakeJob(Receives(20, kGigabit, 800))).verdict.sentence,
            "800 of 1,000 samples seen");
}

TEST(NetworkBottleneck, RefusesParametersOutOfRange) {
  EXPECT_EQ(CompleteParameters(*FindRule(kRule), {{"link", 101}}).error().message,
            "NetworkBottleneck: link is 101, but must be a number from 0 to 100 %");
}

}  // namespace
}  // namespace stepscope::scenarios
