// A rule that has not fired yet is checked between its scans.

#include "rules/engine/next_check.h"

#include <gtest/gtest.h>

#include <random>

#include "rules/stats/statistics.h"
#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

// A job that is fine until a tick from which on a scan would fire.
struct Crossing {
  std::string_view rule;
  std::vector<Stretch> stretches;
  std::vector<Extra> extras;
  Duration at;  // since the job's first tick
  Json parameters = {{"patience", 0}};
};

std::optional<double> MemoryJumps(std::size_t, std::size_t tick) {
  return tick < 500 ? 40 : 80;
}
std::optional<double> Throttled(std::size_t, std::size_t tick) {
  return tick < 450 ? 0 : 100;
}
// One GPU stops after a while.
std::optional<double> Stops(std::size_t, std::size_t tick) {
  return tick < 500 ? 100 : 0;
}

Crossing Crossings(std::string_view rule) {
  if (rule == "LowGPUUtilization") return {rule, {{640, 95}, {800, 20}}, {}, 640 * 500ms + 237s};
  if (rule == "BatchSize") {
    return {rule, {{640, 95}, {800, 20}}, {{{"gpu_memory_used_percent", "0"}, Stops}}, 557s};
  }
  if (rule == "GPUMemoryIncrease") {
    return {rule, {{1000, 95}}, {{{"gpu_memory_used_percent", "0"}, MemoryJumps}}, 251s};
  }
  if (rule == "GPUThrottled") {
    return {rule, {{1000, 95}}, {{{"gpu_power_throttle_percent", "0"}, Throttled}}, 250s, {}};
  }
  if (rule == "IdleGPU") {
    return {rule, {{1000, 95}}, {{{"gpu_util_percent", "1"}, Throttled}}, 185s, {{"minutes", 3}}};
  }
  if (rule == "LoadBalancing") {
    return {rule, {{1000, 100}}, {{{"gpu_util_percent", "1"}, Stops}}, 313s};
  }
  if (rule == "IOBottleneck") {
    return {rule, {{200, 95}, {800, 3, 20}}, {{{"cpu_iowait_percent", "0"}, Throttled}}, 450s};
  }
  return {rule, {{200, 95}, {800, 3, 98}}, {}, 200s};
}

class CheckedFolds : public testing::TestWithParam<std::string_view> {};

TEST_P(CheckedFolds, FindWhatCrossesBetweenTwoScans) {
  const Crossing crossing = Crossings(GetParam());
  Scenario scenario;
  scenario.gpus = 2;
  scenario.stretches = crossing.stretches;
  scenario.extras = crossing.extras;
  const Job job = MakeJob(scenario);
  const Verdict verdict = Judge(crossing.rule, job, crossing.parameters).verdict;
  ASSERT_EQ(verdict.kind, VerdictKind::kFinding) << verdict.sentence;
  const Duration fired = *verdict.fired - job.origin;
  EXPECT_GE(fired, crossing.at) << ToSeconds(fired);
  EXPECT_LE(fired, crossing.at + kCheckInterval + 1s) << ToSeconds(fired);
  EXPECT_NE(fired % 60s, 0s) << "a scan was due then";
}

INSTANTIATE_TEST_SUITE_P(Rules, CheckedFolds,
                         testing::Values("LowGPUUtilization", "BatchSize", "GPUMemoryIncrease",
                                         "GPUThrottled", "IdleGPU", "LoadBalancing", "IOBottleneck",
                                         "CPUBottleneck"),
                         [](const auto& row) { return std::string(row.param); });

TEST(NextCheck, IsOnTheGridAndBeforeTheNextScan) {
  struct Wants : Fold {
    Time at{};
    Time NextCheck(Time) const override { return at; }
    Verdict Judge() const override { return {}; }
    std::string Save() const override { return {}; }
    Status Load(std::string_view) override { return {}; }
  };
  const Time origin = FromMicros(kOriginUs);
  const auto next = [&](Duration wanted) {
    Wants fold;
    fold.at = origin + wanted;
    const auto look = NextCheck(fold, origin, origin + 60s, origin + 120s);
    return look ? ToSeconds(*look - origin) : 0;
  };
  EXPECT_EQ(next(-1h), 65);
  EXPECT_EQ(next(60s), 65);
  EXPECT_EQ(next(65s), 65);
  EXPECT_EQ(next(65s + 1us), 70);
  EXPECT_EQ(next(114s), 115);
  EXPECT_EQ(next(116s), 0);
  EXPECT_EQ(next(Time::max() - origin), 0);
}

TEST(TicksToExceed, IsWhenTheShareIsAbove) {
  for (const double share : {0.0, 0.25, 0.5, 0.875}) {
    for (std::int64_t judged = 0; judged < 40; ++judged) {
      for (std::int64_t bad = 0; bad <= judged; ++bad) {
        std::int64_t more = 0;
        while (static_cast<double>(bad + more) <= share * static_cast<double>(judged + more)) {
          ++more;
        }
        ASSERT_EQ(TicksToExceed(share, bad, judged), more) << share << " " << bad << "/" << judged;
      }
    }
  }
  EXPECT_FALSE(TicksToExceed(1, 10, 10).has_value());
}

TEST(SlidingPercentiles, LackWhatWouldPutThemBelow) {
  std::mt19937 random(1);
  for (const std::size_t window : {1u, 20u, 500u}) {
    SlidingPercentiles values(window);
    for (std::size_t i = 0; i < 3 * window; ++i) {
      values.Add(static_cast<std::uint32_t>(random() % 10'001));
      const std::size_t lacking = values.LackingBelow(0.95, 70);
      SlidingPercentiles later(window);
      ASSERT_TRUE(later.Load(values.Save()).ok());
      for (std::size_t more = 0; more < lacking; ++more) {
        ASSERT_FALSE(later.full() && later.Percentile(0.95) < 70) << more << " of " << lacking;
        later.Add(0);
      }
    }
    EXPECT_EQ(SlidingPercentiles(window).LackingBelow(0.95, 70), window);
  }
}

}  // namespace
}  // namespace stepscope::scenarios
