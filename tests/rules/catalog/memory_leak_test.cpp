#include <gtest/gtest.h>

#include <cmath>

#include "core/wire/bytes.h"
#include "rules/engine/packing.h"
#include "rules/stats/trend.h"
#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "MemoryLeak";
constexpr double kTicksAnHour = 7200;

// Memory of the node, and of its GPU, in percent at an hour.
template <typename Host, typename Gpu>
Scenario Course(double hours, Host host, Gpu gpu) {
  Scenario scenario;
  scenario.cores = 1;
  scenario.stretches = {{static_cast<std::size_t>(hours * kTicksAnHour), 90}};
  scenario.extras = {
      {{"memory_used_percent", ""},
       [=](auto, auto tick) { return host(static_cast<double>(tick) / kTicksAnHour); }},
      {{"gpu_memory_used_percent", "0"},
       [=](auto, auto tick) { return gpu(static_cast<double>(tick) / kTicksAnHour); }}};
  return scenario;
}
const auto kFlat = [](double) { return 40.0; };
const auto kLeaks = [](double hour) { return 30 + 6 * hour; };

TEST(MemoryLeak, FiresForAHostAndSaysWhenItIsFull) {
  const auto outcome = Judge(kRule, MakeJob(Course(3, kLeaks, kFlat)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_NE(outcome.verdict.sentence.find("+6.00 %/h in 100 % of all pairs of stretches, and will "
                                          "be full in 8.7 h"),
            std::string::npos)
      << outcome.verdict.sentence;
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_EQ(outcome.verdict.severity, Severity::kMedium);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  const Time full = FromMicros(outcome.findings[0].evidence["full_at_us"].get<std::int64_t>());
  const double hours = std::chrono::duration<double>(full - FromMicros(kOriginUs)).count() / 3600;
  EXPECT_NEAR(hours, 70.0 / 6, 0.1);
}

TEST(MemoryLeak, FiresForAGpuInSpiteOfBursts) {
  const auto bursts = [](double hour) {
    return kLeaks(hour) + (static_cast<int>(hour * 60) % 20 == 0 ? 25.0 : 0.0);
  };
  const auto outcome = Judge(kRule, MakeJob(Course(3, kFlat, bursts)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
  EXPECT_EQ(outcome.findings[0].subject.device, "0");
}

TEST(MemoryLeak, IsClearWhenItIsFlatSlowOrNotSteady) {
  const auto slow = [](double hour) { return 40 + 0.5 * hour; };
  const auto grows_once = [](double hour) { return hour < 0.5 ? 20 : 60.0; };
  const auto saw = [](double hour) { return 20 + 60 * (hour * 3 - std::floor(hour * 3)); };
  for (const auto& job : {Course(3, kFlat, kFlat), Course(3, slow, kFlat), Course(3, saw, kFlat),
                          Course(3, grows_once, kFlat)}) {
    const auto verdict = Judge(kRule, MakeJob(job)).verdict;
    EXPECT_EQ(verdict.kind, VerdictKind::kClear) << verdict.sentence;
  }
}

// A node of 512 GB, and a container of 32 GB on it whose memory grows; `cached` of it are files.
Job Contained(double hours, double cached, bool tells = true) {
  constexpr double kGiga = 1024.0 * 1024 * 1024;
  Scenario scenario = Course(
      hours, [=](double hour) { return 4 + (1 - cached) * (8 + 23 * hour / 8) / 512 * 100; },
      kFlat);
  if (!tells) scenario.extras.erase(scenario.extras.begin());
  scenario.extras.push_back({{"cgroup_memory_bytes", ""}, [=](auto, auto tick) {
                               return (8 + 23 * static_cast<double>(tick) / kTicksAnHour / 8) *
                                      kGiga;
                             }});
  scenario.extras.push_back(
      {{"cgroup_memory_limit_bytes", ""}, [=](auto, auto) { return 32 * kGiga; }});
  return MakeJob(scenario);
}

TEST(MemoryLeak, FiresForAContainerOnALargeNode) {
  const auto outcome = Judge(kRule, Contained(8, 0));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
  EXPECT_NE(
      outcome.verdict.sentence.find("The memory of the control group of node node-0 went from"),
      std::string::npos)
      << outcome.verdict.sentence;
  EXPECT_EQ(outcome.findings.at(0).subject.device, "cgroup");
}

// The kernel keeps files in the memory of a group until it is full, and drops them then.
TEST(MemoryLeak, IsClearForAContainerThatReadsFiles) {
  const auto files = Judge(kRule, Contained(8, 1)).verdict;
  EXPECT_EQ(files.kind, VerdictKind::kClear) << files.sentence;
  EXPECT_NE(files.sentence.find("may be files kept in memory"), std::string::npos)
      << files.sentence;
  // Without a series that tells, only a long and steady rise is believed.
  EXPECT_EQ(Judge(kRule, Contained(1, 0, false)).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, Contained(8, 0, false)).verdict.kind, VerdictKind::kFinding);
}

// A container whose processes grow by `grows` of its room in 8 hours, while cached files fill the
// rest: the figure with files in it climbs to the limit in any case.
Job ContainedWithFiles(double grows, double node_grows) {
  constexpr double kGiga = 1024.0 * 1024 * 1024;
  Scenario scenario = Course(
      8, [=](double hour) { return 40 + node_grows * hour / 8; }, kFlat);
  const auto of_limit = [](double start, double by, auto tick) {
    return (start + by * static_cast<double>(tick) / kTicksAnHour / 8) * 32 * kGiga;
  };
  scenario.extras.push_back(
      {{"cgroup_memory_bytes", ""}, [=](auto, auto tick) { return of_limit(0.25, 0.7, tick); }});
  scenario.extras.push_back({{"cgroup_memory_anon_bytes", ""},
                             [=](auto, auto tick) { return of_limit(0.2, grows, tick); }});
  scenario.extras.push_back(
      {{"cgroup_memory_limit_bytes", ""}, [=](auto, auto) { return 32 * kGiga; }});
  return MakeJob(scenario);
}

TEST(MemoryLeak, JudgesWhatTheProcessesOfAContainerHold) {
  // The memory of the node is the neighbours', which come and go.
  EXPECT_EQ(Judge(kRule, ContainedWithFiles(0, 5)).verdict.kind, VerdictKind::kClear);
  const auto leak = Judge(kRule, ContainedWithFiles(0.6, -20)).verdict;
  EXPECT_EQ(leak.kind, VerdictKind::kFinding) << leak.sentence;
  EXPECT_NE(leak.sentence.find("+7.50 %/h"), std::string::npos) << leak.sentence;
}

// A short job whose group's count of kills begins at 3, and has `kills` more after 4 minutes.
Job WithKills(double kills) {
  Scenario scenario = Course(0.2, kFlat, kFlat);
  scenario.extras.push_back({{"cgroup_oom_kills", ""}, [=](auto, auto tick) {
                               return 3 + (static_cast<double>(tick) > 480 ? kills : 0);
                             }});
  return MakeJob(scenario);
}

TEST(MemoryLeak, FiresWhereTheKernelKilledAProcessOfTheGroup) {
  const auto outcome = Judge(kRule, WithKills(2));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.severity, Severity::kMedium);
  EXPECT_TRUE(outcome.verdict.sentence.starts_with(
      "The kernel killed 2 processes of the control group of node node-0 for want of memory"))
      << outcome.verdict.sentence;
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.device, "cgroup");
  EXPECT_EQ(outcome.findings[0].from, FromMicros(kOriginUs) + 240s);
  EXPECT_EQ(outcome.findings[0].evidence["killed"], 2);
}

TEST(MemoryLeak, KillsBeforeTheJobAreNone) {
  EXPECT_EQ(Judge(kRule, WithKills(0)).verdict.kind, VerdictKind::kUnknown);
}

// Memory grows in each epoch of an hour and falls at its end; its peaks rise by `by` each time.
Scenario Saw(double hours, double by) {
  return Course(
      hours,
      [=](double hour) { return 15 + by * std::floor(hour) + 40 * (hour - std::floor(hour)); },
      kFlat);
}

TEST(MemoryLeak, FiresForASawWhosePeaksRise) {
  const auto verdict = Judge(kRule, MakeJob(Saw(8, 5))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_NE(verdict.sentence.find("rises and falls, but its peaks went from"), std::string::npos)
      << verdict.sentence;
  EXPECT_TRUE(verdict.active);
}

TEST(MemoryLeak, IsClearForASawWhosePeaksStay) {
  for (const double hours : {1.6, 2.5, 4.0, 8.0, 8.9}) {
    const auto verdict = Judge(kRule, MakeJob(Saw(hours, 0))).verdict;
    EXPECT_EQ(verdict.kind, VerdictKind::kClear) << hours << ": " << verdict.sentence;
  }
}

// Its first hours look like a tooth of a saw; when it is nearly full there is no time to wait.
TEST(MemoryLeak, WaitsAtTheBeginUntilItIsUrgent) {
  const auto fast = [](double hour) { return 30 + 30 * hour; };
  EXPECT_EQ(Judge(kRule, MakeJob(Course(1.5, fast, kFlat))).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, MakeJob(Course(1.9, fast, kFlat))).verdict.kind, VerdictKind::kFinding);
}

// The memory rises, but the job is over long before it is full.
TEST(MemoryLeak, IsClearWhenItIsFullAfterTheHorizon) {
  const Scenario leaks = Course(2, kLeaks, kFlat);
  EXPECT_EQ(Judge(kRule, MakeJob(leaks), {{"horizon", 8}}).verdict.kind, VerdictKind::kClear);
}

TEST(MemoryLeak, IsUnknownWithoutEnoughTimeOrSamples) {
  const auto verdict = Judge(kRule, MakeJob(Course(0.5, kLeaks, kFlat))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(verdict.sentence, "19 min of 30 min of memory use seen since the initialisation");
  Scenario silent = Course(1, kLeaks, kFlat);
  silent.extras.clear();
  EXPECT_EQ(Judge(kRule, MakeJob(silent)).verdict.sentence, "no samples of memory use");
}

TEST(MemoryLeak, RefusesParametersOutOfRange) {
  EXPECT_EQ(CompleteParameters(*FindRule(kRule), {{"horizon", 0}}).error().message,
            "MemoryLeak: horizon is 0, but must be a number from 0.1 to 10000 h");
}

// A year of samples is as many points as two hours, and the same line.
TEST(Trend, KeepsTheLineOverAnyLength) {
  Trend trend;
  for (int hour = 0; hour < 24 * 365; ++hour) {
    trend.Add(FromMicros(0) + std::chrono::hours(hour), static_cast<std::uint32_t>(hour));
  }
  const auto line = trend.Fit();
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope, 0.01, 1e-6);
  EXPECT_DOUBLE_EQ(line->rising, 1);
  EXPECT_LT(SaveFields(trend).size(), 1000u);
}

// An hour without samples is no course, and two stretches with it are as long as two without.
TEST(Trend, LeavesGapsOut) {
  Trend trend, loaded;
  for (int minute = 0; minute < 300; ++minute) {
    if (minute / 60 % 2 == 1) continue;
    trend.Add(FromMicros(0) + std::chrono::minutes(minute),
              static_cast<std::uint32_t>(10 * minute));
    ASSERT_TRUE(LoadFields(SaveFields(trend), loaded).ok());
    EXPECT_EQ(SaveFields(loaded), SaveFields(trend));
  }
  const auto line = loaded.Fit();
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope, 6, 0.05);
  EXPECT_DOUBLE_EQ(line->rising, 1);
}

TEST(Trend, RefusesMeansOutOfRange) {
  for (const std::vector<std::uint64_t>& numbers : std::vector<std::vector<std::uint64_t>>{
           {3}, {320'002}, {4, 7}, {~std::uint64_t{0}}, std::vector<std::uint64_t>(200, 0)}) {
    std::string state = SaveFields(Trend());
    state.pop_back();  // no means
    PutText(state, PackNumbers(numbers));
    Trend trend;
    EXPECT_FALSE(LoadFields(state, trend).ok()) << numbers.front();
  }
}

}  // namespace
}  // namespace stepscope::scenarios
