#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "StepTimeTrend";

// Steps whose length in seconds is a function of their number, with `noise` (a part of it).
Job Course(std::int64_t steps, const std::function<double(double number)>& seconds,
           double noise = 0.02, std::uint64_t seed = 1) {
  Scenario scenario;
  scenario.stretches = {{10}};
  scenario.ranks = {{5s, static_cast<std::size_t>(steps), 100ms}};
  Job job = MakeJob(scenario);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> around(1, noise);
  Time start = job.origin + 5s;
  for (Step& step : job.ranks[0].steps) {
    const double length_s = seconds(static_cast<double>(step.number)) * around(random);
    step.wall = Duration(std::llround(std::max(length_s, 1e-3) * 1e9));
    step.phases[static_cast<std::size_t>(Phase::kForward)] = step.wall * 9 / 10;
    step.start = start;
    start += step.wall;
  }
  return job;
}

Verdict Of(const Job& job) {
  return Judge(kRule, job).verdict;
}

TEST(StepTimeTrend, FindsStepsThatGrowFromTheBegin) {
  const auto outcome = Judge(kRule, Course(
                                        460, [](double n) { return 0.35 + 0.0033 * n; }, 0));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_TRUE(outcome.verdict.sentence.starts_with("Steps of rank 0 grow: 4"))
      << outcome.verdict.sentence;
  EXPECT_NE(outcome.verdict.sentence.find("+3.3 ms each step, since the begin; longer is mostly "
                                          "forward"),
            std::string::npos)
      << outcome.verdict.sentence;
  EXPECT_EQ(outcome.verdict.severity, Severity::kHigh);
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.rank, 0);
}

TEST(StepTimeTrend, FindsGrowthThatBeginsLateOrIsNoLine) {
  const auto late =
      Of(Course(4000, [](double n) { return 0.1 * (1 + std::max(0.0, n - 2200) / 900); }));
  EXPECT_EQ(late.kind, VerdictKind::kFinding) << late.sentence;
  EXPECT_NE(late.sentence.find(", since step "), std::string::npos) << late.sentence;
  const auto quadratic = Of(Course(2000, [](double n) { return 0.1 + 1e-7 * n * n; }));
  EXPECT_EQ(quadratic.kind, VerdictKind::kFinding) << quadratic.sentence;
}

TEST(StepTimeTrend, FindsGrowthAmongNoise) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto verdict = Of(Course(
        2000, [](double n) { return 0.1 * (1 + n / 3000); }, 0.1, seed));
    EXPECT_EQ(verdict.kind, VerdictKind::kFinding) << verdict.sentence;
  }
}

TEST(StepTimeTrend, IsClearForWhatIsNoGrowth) {
  const auto gets_faster = [](double n) { return 0.2 + 0.5 * std::exp(-n / 200); };
  const auto shift = [](double n) { return n < 1000 ? 0.2 : 0.3; };
  const auto early_shift = [](double n) { return n < 300 ? 0.2 : 0.3; };
  const auto late_shift = [](double n) { return n < 1700 ? 0.2 : 0.3; };
  const auto saw = [](double n) { return 0.2 + 0.2 * std::fmod(n, 90) / 90; };
  const auto one = [](double n) { return n == 900 ? 300.0 : 0.2; };
  const auto two_kinds = [](double n) { return std::fmod(n * 7, 10) < 5 ? 0.1 : 0.6; };
  const auto collects = [](double n) { return std::fmod(n, 37) == 0 ? 0.9 : 0.2; };
  for (const auto& course : std::vector<std::function<double(double)>>{
           gets_faster, shift, early_shift, late_shift, saw, one, two_kinds, collects}) {
    const auto outcome = Judge(kRule, Course(2000, course));
    EXPECT_EQ(outcome.verdict.kind, VerdictKind::kClear) << outcome.verdict.sentence;
    EXPECT_TRUE(outcome.findings.empty());
  }
}

TEST(StepTimeTrend, IsClearForNoiseAlone) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto outcome = Judge(kRule, Course(
                                          3000, [](double) { return 0.2; }, 0.1, seed));
    EXPECT_EQ(outcome.verdict.kind, VerdictKind::kClear) << outcome.verdict.sentence;
    EXPECT_TRUE(outcome.findings.empty());
  }
}

TEST(StepTimeTrend, SaysThatItIsOver) {
  const auto verdict =
      Of(Course(4000, [](double n) { return n < 1000 ? 0.1 * (1 + n / 500) : 0.1; }));
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_FALSE(verdict.active);
  EXPECT_NE(verdict.sentence.find("They do not grow any more."), std::string::npos)
      << verdict.sentence;
}

TEST(StepTimeTrend, IsUnknownBeforeEnoughSteps) {
  Scenario none;
  none.stretches = {{10}};
  EXPECT_EQ(Of(MakeJob(none)).sentence, "no steps reported");
  const auto grows = [](double n) { return 0.35 + 0.0033 * n; };
  EXPECT_EQ(Of(Course(80, grows)).sentence, "60 of 100 steps seen");
  EXPECT_NE(
      Of(Course(400, [](double n) { return 0.01 + 1e-4 * n; })).sentence.find("judged from 60 s"),
      std::string::npos);
}

// Ten thousand steps a second, for more steps than there are windows.
TEST(StepTimeTrend, KeepsAFewBytesForAnyNumberOfSteps) {
  const Job job = Course(700'000, [](double) { return 1e-3; });
  Replay replay(*FindRule(kRule), job, {});
  EXPECT_EQ(replay.Run().verdict.kind, VerdictKind::kClear);
  EXPECT_LT(replay.state().size(), 3'000u);
}

TEST(StepTimeTrend, RefusesNoGrowthAtAll) {
  EXPECT_FALSE(CompleteParameters(*FindRule(kRule), {{"threshold", 0}}).ok());
}

}  // namespace
}  // namespace stepscope::scenarios
