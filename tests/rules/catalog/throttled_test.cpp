#include <gtest/gtest.h>

#include <functional>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "Throttled";

// A container that uses eight cores; throttled as `percent` says for a tick.
Job Limited(const std::function<std::optional<double>(std::size_t tick)>& percent, double gpu = 12,
            std::size_t ticks = 1200) {
  Scenario scenario;
  scenario.stretches = {{ticks, gpu, 20}};
  scenario.extras = {
      {{"cgroup_throttled_percent", ""}, [=](auto, auto tick) { return percent(tick); }},
      {{"cgroup_cpu_percent", ""}, [](auto, auto) { return 800; }}};
  return MakeJob(scenario);
}
const auto kMuch = [](std::size_t) { return 95.0; };

TEST(Throttled, FiresForAGroupAtItsQuota) {
  const auto outcome = Judge(kRule, Limited(kMuch));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.sentence,
            "The control group of node node-0 ran out of its quota of CPU time in 95.0 % of its "
            "periods and used 8.00 cores; the threshold is 25 %: raise the limit or use fewer "
            "threads; 1 of 1 group fired 10 times in 10 scans.");
  EXPECT_EQ(outcome.verdict.severity, Severity::kHigh);
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.node, "node-0");
}

// Ticks of ten seconds, as samples that another program posts may have.
TEST(Throttled, FiresAtALongInterval) {
  Job job = Limited(kMuch, 12, 180);
  job.facts.interval = 10s;
  for (std::size_t i = 0; i < 180; ++i) {
    job.nodes[0].at_us[i] = kOriginUs + static_cast<std::int64_t>(i) * 10'000'000;
  }
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kFinding);
}

TEST(Throttled, IsClearForLittleAndForShortTimes) {
  const auto little = [](std::size_t tick) { return tick % 10 == 0 ? 100.0 : 0.0; };
  const auto seldom = [](std::size_t tick) { return tick % 240 < 20 ? 100.0 : 0.0; };
  for (const auto& job : {Limited(little), Limited(seldom)}) {
    const auto outcome = Judge(kRule, job);
    EXPECT_EQ(outcome.verdict.kind, VerdictKind::kClear) << outcome.verdict.sentence;
    EXPECT_TRUE(outcome.findings.empty());
  }
}

TEST(Throttled, IsClearWhileTheGpusAreBusyAllTheSame) {
  const auto verdict = Judge(kRule, Limited(kMuch, 97)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear);
  EXPECT_NE(verdict.sentence.find("busy for 97 % all the same"), std::string::npos)
      << verdict.sentence;
}

// A quarter of a minute at the quota makes it a quarter of the minute, whatever comes.
TEST(Throttled, FiresAsSoonAsItIsCertain) {
  const auto early = Judge(kRule, Limited(kMuch, 12, 40)).verdict;
  EXPECT_EQ(early.kind, VerdictKind::kFinding) << early.sentence;
  EXPECT_EQ(Judge(kRule, Limited(kMuch, 97, 40)).verdict.kind, VerdictKind::kClear);
}

// Agents read these counters every two seconds.
TEST(Throttled, ASampleTellsOfTheTimeSinceTheOneBefore) {
  const auto seldom = [](std::size_t tick) {
    return tick % 4 == 0 ? std::optional(95.0) : std::nullopt;
  };
  const auto verdict = Judge(kRule, Limited(seldom, 12, 60)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding) << verdict.sentence;
  // Nobody knows what was in the minutes between two samples.
  const auto rare = [](std::size_t tick) {
    return tick % 400 == 0 ? std::optional(95.0) : std::nullopt;
  };
  EXPECT_EQ(Judge(kRule, Limited(rare, 12, 401)).verdict.kind, VerdictKind::kUnknown);
}

TEST(Throttled, SaysThatItIsOver) {
  const auto verdict =
      Judge(kRule, Limited([](std::size_t tick) { return tick < 500 ? 80.0 : 0.0; })).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_FALSE(verdict.active);
}

TEST(Throttled, IsUnknownWithoutAQuotaOrEnoughSamples) {
  EXPECT_EQ(Judge(kRule, Limited([](std::size_t) { return std::nullopt; })).verdict.kind,
            VerdictKind::kUnknown);
  Scenario none;
  none.stretches = {{600, 12}};
  EXPECT_EQ(Judge(kRule, MakeJob(none)).verdict.sentence,
            "no control group tells of a quota of CPU time");
  EXPECT_EQ(Judge(kRule, Limited(kMuch, 12, 25)).verdict.sentence,
            "a control group was seen for 25 of 120 samples");
}

TEST(Throttled, RefusesAShareAboveAHundred) {
  EXPECT_FALSE(CompleteParameters(*FindRule(kRule), {{"threshold", 101}}).ok());
}

}  // namespace
}  // namespace stepscope::scenarios
