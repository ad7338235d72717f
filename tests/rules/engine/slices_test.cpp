// The slicing of a job never changes a rule's verdict.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "rules/engine/state.h"
#include "rules/signals/initialisation.h"
#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

// Parameters with small windows, so that a short job has all parts of a long one.
Json SmallParameters(const RuleType& rule) {
  if (rule.name == "LowGPUUtilization") return {{"window", 100}, {"patience", 150}};
  if (rule.name == "BatchSize") return {{"window", 100}, {"patience", 150}};
  if (rule.name == "IdleGPU") return {{"threshold", 97}, {"minutes", 2}};
  if (rule.name == "StepOutlier") return {{"mode", "data"}, {"stddev", 1}, {"n_outliers", 3}};
  if (rule.name == "MaxInitializationTime") return {{"threshold", 0.3}};
  if (rule.name == "Straggler") return {{"threshold", 1}, {"min_steps", 5}};
  if (rule.name == "StalledTraining") return {{"threshold", 30}};
  if (rule.name == "StepTimeTrend") return {{"threshold", 5}, {"min_steps", 50}};
  if (rule.name == "Throttled") return {{"threshold", 40}, {"duration", 20}};
  Json small = Json::object();
  for (const Param& param : rule.params) {
    if (param.name == kPatience.name) small[std::string(param.name)] = "60s";
  }
  return small;
}

// Values around a level that moves every 150 ticks, with missing samples.
auto Swings(std::uint64_t seed, double level, double by) {
  return [=](std::size_t node, std::size_t tick) -> std::optional<double> {
    std::mt19937_64 random(seed * 1000 + node * 77 + tick / 150);
    const double moved = level + by * (static_cast<double>(random() % 1000) / 500 - 1);
    if ((tick + seed) % 37 == 0) return std::nullopt;
    return std::max(0.0, moved + static_cast<double>(tick * (seed + 3) % 7));
  };
}

std::optional<double> Bursts(std::size_t node, std::size_t tick) {
  return (tick + 20 * node) % 80 < 12 ? 1e7 + 1e4 * static_cast<double>(tick) : 1e4;
}

// A rank evaluates for 25 s of each 2 minutes.
std::optional<double> Evaluates(std::size_t, std::size_t tick) {
  return tick % 240 > 190 ? 100 : 0;
}

std::optional<double> Rises(std::size_t, std::size_t tick) {
  return 20 + static_cast<double>(tick) / 200;
}

Scenario Eventful(std::uint64_t seed) {
  Scenario scenario;
  scenario.seed = seed;
  scenario.nodes = 1 + seed % 3;
  scenario.gpus = seed % 5 == 0 ? 0 : 2;
  scenario.missing = seed % 4 == 0 ? 0.2 : 0;
  scenario.stretches = {{200 + seed * 7, 5, 95, 10, 2, 8},
                        {400, 90, 50, 10, 2, 15},
                        {300 + seed, 8, 97, 30, 10, 10},
                        {130, 60, 91, 40, 1, 9}};
  scenario.extras = {{{"cpu_iowait_percent", "1"}, Swings(seed, 30, 60)},
                     {{"gpu_memory_used_percent", "0"}, Swings(seed + 1, 55, 20)},
                     {{"gpu_memory_used_percent", "1"}, Rises},
                     {{"gpu_power_throttle_percent", "0"}, Swings(seed + 2, 0, 60)},
                     {{"gpu_thermal_throttle_percent", "1"}, Swings(seed + 3, 0, 60)},
                     {{"network_receive_bytes_per_second", "ib0"}, Swings(seed + 4, 6e7, 6e7)},
                     {{"network_send_bytes_per_second", "ib0"}, Bursts},
                     {{"cgroup_throttled_percent", ""}, Swings(seed + 5, 40, 60)},
                     {{"cgroup_cpu_percent", ""}, Swings(seed + 6, 300, 60)},
                     {{"rank_evaluating_percent", "rank0"}, Evaluates}};
  if (seed % 2 == 0) {
    scenario.ranks = {{20s, 900, 300ms + 321ns, 18, 15, 0, seed == 4 ? 200us : 0us},
                      {21s, 60, 5s + 777ns, 30, 20},
                      {22s, 7, 1s, 90, 5}};
  }
  return scenario;
}

class Slices : public testing::TestWithParam<RuleType> {};

TEST_P(Slices, DoNotChangeTheVerdict) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Job job = MakeJob(Eventful(seed));
    const Json parameters = SmallParameters(GetParam());
    const std::string whole = ToText(Judge(GetParam().name, job, parameters));
    for (std::uint64_t slicing = 1; slicing <= 4; ++slicing) {
      ASSERT_EQ(whole, ToText(Judge(GetParam().name, job, parameters, slicing)))
          << "job " << seed << ", slicing " << slicing;
    }
  }
}

TEST_P(Slices, ShareIsAPartOfTheTimeOfWhatFired) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Job job = MakeJob(Eventful(seed));
    const Verdict verdict = Judge(GetParam().name, job, SmallParameters(GetParam())).verdict;
    const bool fired = verdict.kind == VerdictKind::kFinding && !GetParam().sums_up;
    EXPECT_EQ(verdict.share > 0, fired) << "job " << seed << ": " << verdict.sentence;
    EXPECT_LE(verdict.share, 1);
  }
}

TEST_P(Slices, WhatFiresHasAFinding) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Job job = MakeJob(Eventful(seed));
    const auto outcome = Judge(GetParam().name, job, SmallParameters(GetParam()));
    const bool fired = outcome.verdict.kind == VerdictKind::kFinding && !GetParam().sums_up;
    EXPECT_EQ(!outcome.findings.empty(), fired) << "job " << seed << outcome.verdict.sentence;
    for (const Finding& finding : outcome.findings) {
      EXPECT_GE(finding.from, job.origin) << finding.sentence;
      EXPECT_LE(finding.from, finding.to) << finding.sentence;
    }
  }
}

TEST_P(Slices, StateComesBackWholeOrNotAtAll) {
  const Job job = MakeJob(Eventful(1));
  Replay replay(GetParam(), job, SmallParameters(GetParam()));
  replay.Run();
  const std::string& state = replay.state();
  const auto fold = replay.NewFold();
  ASSERT_TRUE(fold->Load(state).ok());
  EXPECT_EQ(fold->Save(), state);
  for (std::size_t length = 0; length < state.size(); ++length) {
    ASSERT_FALSE(replay.NewFold()->Load(state.substr(0, length)).ok()) << length;
  }
  EXPECT_FALSE(replay.NewFold()->Load(state + '\0').ok());
}

// A damaged state either does not load, or is sound.
TEST_P(Slices, StateWithAWrongByteHarmsNothing) {
  const Job job = MakeJob(Eventful(1));
  Replay replay(GetParam(), job, SmallParameters(GetParam()));
  replay.Run();
  std::mt19937 random(1);
  std::size_t refused = 0;
  for (int i = 0; i < 1'000; ++i) {
    std::string state = replay.state();
    state[random() % state.size()] ^= static_cast<char>(1 + random() % 255);
    refused += !replay.NewFold()->Load(state).ok();
  }
  EXPECT_GT(refused, 0u);
}

struct Before {
  std::int64_t count = 7;

  template <typename State>
  void Fields(State& state) {
    state("count", count);
  }
};
struct Now {
  std::int64_t counted = 0;

  template <typename State>
  void Fields(State& state) {
    state("counted", counted);
  }
};

TEST(State, NamesWhatIsOfAnotherShape) {
  Now now;
  EXPECT_EQ(LoadFields(SaveFields(Before()), now).error().message,
            "state: 'counted' is missing or wrong");
}

struct Later {
  std::int64_t added = 3, count = 0;

  template <typename State>
  void Fields(State& state) {
    state.Dropped("old", std::string());
    state.Added("added", added);
    state("count", count);
  }
};
struct Earlier {
  std::string old = "gone";
  std::int64_t count = 7;

  template <typename State>
  void Fields(State& state) {
    state("old", old);
    state("count", count);
  }
};

TEST(State, OfAnEarlierVersionLoads) {
  Later later;
  ASSERT_TRUE(LoadFields(SaveFields(Earlier()), later).ok());
  EXPECT_EQ(later.count, 7);
  EXPECT_EQ(later.added, 3);
  ASSERT_TRUE(LoadFields(SaveFields(Later{9, 8}), later).ok());
  EXPECT_EQ(later.added, 9);
  for (const std::string& state : {SaveFields(Earlier()), SaveFields(Later())}) {
    for (std::size_t length = 0; length < state.size(); ++length) {
      EXPECT_FALSE(LoadFields(state.substr(0, length), later).ok()) << length;
    }
  }
}

template <typename T>
struct One {
  T value{};

  template <typename State>
  void Fields(State& state) {
    state("value", value);
  }
};

TEST(State, KeepsTheEndsOfNumbers) {
  for (const std::int64_t number : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1},
                                    std::numeric_limits<std::int64_t>::max()}) {
    One<std::int64_t> loaded;
    ASSERT_TRUE(LoadFields(SaveFields(One<std::int64_t>{number}), loaded).ok());
    EXPECT_EQ(loaded.value, number);
    One<int> narrow;
    EXPECT_EQ(LoadFields(SaveFields(One<std::int64_t>{number}), narrow).ok(), number == -1);
    One<Time> time;
    EXPECT_EQ(LoadFields(SaveFields(One<std::int64_t>{number}), time).ok(), number == -1);
  }
  One<double> real;
  EXPECT_TRUE(LoadFields(SaveFields(One<double>{-0.1}), real).ok());
  EXPECT_EQ(real.value, -0.1);
  EXPECT_FALSE(LoadFields(SaveFields(One<double>{std::nan("")}), real).ok());
}

INSTANTIATE_TEST_SUITE_P(EveryRule, Slices, testing::ValuesIn(Catalog().begin(), Catalog().end()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace stepscope::scenarios
