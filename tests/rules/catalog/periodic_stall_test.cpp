#include <gtest/gtest.h>

#include <functional>

#include "rules/engine/packing.h"
#include "rules/signals/host_activity.h"
#include "rules/signals/rhythm.h"
#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "PeriodicStall";

// Steps of about 100 ms; `more` says how much longer each is, and in which phase.
struct More {
  Duration by{};
  Phase phase = Phase::kOther;
};
Job Stalling(std::size_t steps, const std::function<More(std::int64_t, std::mt19937_64&)>& more,
             std::uint64_t seed = 1, const std::vector<Extra>& extras = {}) {
  Scenario scenario;
  scenario.gpus = 0;
  scenario.stretches = {{steps / 4 + 60, 0, 20}};
  scenario.ranks = {{5s, steps, 100ms}};
  scenario.extras = extras;
  Job job = MakeJob(scenario);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 3e6);
  Time start = job.origin + 5s;
  for (Step& step : job.ranks[0].steps) {
    const More longer = more(step.number, random);
    step.wall += Duration(static_cast<std::int64_t>(noise(random))) + longer.by;
    step.phases[static_cast<std::size_t>(longer.phase)] += longer.by;
    step.start = start;
    start += step.wall;
  }
  return job;
}

// Every `each` steps from step `from` on, a checkpoint makes a step longer by `by`.
auto Every(std::int64_t each, Duration by, std::int64_t from = 0,
           Phase phase = Phase::kCheckpoint) {
  return [=](std::int64_t number, auto&) {
    return number >= from && number % each == each - 1 ? More{by, phase} : More{};
  };
}

std::int64_t EverySteps(const Outcome& outcome) {
  return outcome.verdict.evidence["ranks"][0]["rhythms"][0]["every_steps"].get<std::int64_t>();
}

TEST(PeriodicStall, FiresWhenSlowStepsRecur) {
  const auto outcome = Judge(kRule, Stalling(2000, Every(100, 2s)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
  EXPECT_EQ(EverySteps(outcome), 100);
  EXPECT_NE(outcome.verdict.sentence.find("About every 100 steps rank 0 takes 2 s longer"),
            std::string::npos)
      << outcome.verdict.sentence;
  EXPECT_NE(outcome.verdict.sentence.find("mostly checkpoint"), std::string::npos);
  EXPECT_NEAR(outcome.verdict.share, 218.0 / 240, 0.01);  // from its first beat to the newest
  EXPECT_EQ(outcome.verdict.severity, Severity::kMedium);
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.rank, 0);
  EXPECT_GE(outcome.findings[0].evidence["repeats"], 17);
  EXPECT_NEAR(outcome.findings[0].evidence["cost"].get<double>(), 2.0 / 12, 0.02);
}

TEST(PeriodicStall, NamesTheLoaderWhereTheSlowStepsWaitForBatches) {
  const auto verdict = Judge(kRule, Stalling(2000, Every(4, 600ms, 0, Phase::kData))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("the data loader is the cause"), std::string::npos)
      << verdict.sentence;
  const auto advice = verdict.evidence["advice"].get<std::string>();
  EXPECT_NE(advice.find("data loader"), std::string::npos) << advice;
  EXPECT_EQ(advice.find("log less"), std::string::npos) << advice;
}

// A callback each 50 steps of 276: five of them may be a rhythm, and may be chance.
TEST(PeriodicStall, DoesNotDenyARhythmOfWhichItHasSeenTooLittle) {
  const auto few = Judge(kRule, Stalling(276, Every(50, 1500ms))).verdict;
  EXPECT_EQ(few.kind, VerdictKind::kClear);
  EXPECT_TRUE(few.sentence.starts_with("5 of 276 steps of rank 0 were longer than 1.5 times"));
  EXPECT_TRUE(few.sentence.ends_with(": too few to know whether they have a rhythm."))
      << few.sentence;
  const auto none = Judge(kRule, Stalling(276, Every(1000, 1s))).verdict;
  EXPECT_TRUE(none.sentence.starts_with("None of 276 steps of rank 0 were longer"))
      << none.sentence;
  const auto chance = [](std::int64_t, auto& random) {
    return random() % 50 == 0 ? More{1s, Phase::kCallback} : More{};
  };
  const auto many = Judge(kRule, Stalling(2000, chance)).verdict;
  EXPECT_TRUE(many.sentence.ends_with(": they have no rhythm.")) << many.sentence;
}

TEST(PeriodicStall, NeedsAsManyRepeatsAsAsked) {
  const Job job = Stalling(640, Every(100, 2s));  // six of them: five repeats
  EXPECT_EQ(Judge(kRule, job).verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(Judge(kRule, job, {{"min_repeats", 6}}).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, job, {{"factor", 30}}).verdict.kind, VerdictKind::kClear);
}

TEST(PeriodicStall, FindsAPeriodThatWobbles) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::int64_t next = 40;
    const auto outcome = Judge(kRule, Stalling(
                                          3000,
                                          [&](std::int64_t number, auto& random) -> More {
                                            if (number < next) return {};
                                            next += 49 + static_cast<int>(random() % 3);
                                            return {300ms, Phase::kCallback};
                                          },
                                          seed));
    EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
    EXPECT_NEAR(static_cast<double>(EverySteps(outcome)), 50, 1);
  }
}

TEST(PeriodicStall, FindsAPeriodThatBeginsLateAndSaysWhenItIsOver) {
  const auto late = Judge(kRule, Stalling(20'000, Every(200, 3s, 17'000)));
  EXPECT_EQ(late.verdict.kind, VerdictKind::kFinding) << late.verdict.sentence;
  EXPECT_TRUE(late.verdict.active);
  const auto stops = [](std::int64_t number, auto&) {
    return number < 2000 && number % 100 == 99 ? More{1s, Phase::kCallback} : More{};
  };
  const auto over = Judge(kRule, Stalling(4000, stops)).verdict;
  EXPECT_EQ(over.kind, VerdictKind::kFinding);
  EXPECT_FALSE(over.active);
  EXPECT_NEAR(over.share, 210.0 / 420, 0.02);  // from the 100th step to the 2000th of 4000
  EXPECT_NE(over.sentence.find("It is over."), std::string::npos) << over.sentence;
  // 20 s of 420 s: 9 % of the time in which it went on is less of all.
  EXPECT_NE(over.sentence.find("together 4.8 % of the step time, mostly callback"),
            std::string::npos)
      << over.sentence;
}

// Other outliers between its beats, and beats that do not come.
TEST(PeriodicStall, FindsAPeriodAmongOutliers) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto outcome = Judge(
        kRule, Stalling(
                   6000,
                   [](std::int64_t number, auto& random) -> More {
                     const std::uint64_t dice = random() % 100;
                     if (number % 100 == 99 && dice >= 5) return {1s, Phase::kCallback};
                     return dice < 1 ? More{100ms * (1 + random() % 30), Phase::kData} : More{};
                   },
                   seed));
    EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
  }
}

// An evaluation of some steps in a row is one stall.
TEST(PeriodicStall, TakesSlowStepsInARowAsOne) {
  const auto outcome = Judge(kRule, Stalling(5000, [](std::int64_t number, auto&) {
                               return number % 250 >= 240 ? More{150ms, Phase::kForward} : More{};
                             }));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding) << outcome.verdict.sentence;
  EXPECT_EQ(EverySteps(outcome), 250);
  EXPECT_NE(outcome.verdict.sentence.find("mostly forward"), std::string::npos);
}

TEST(PeriodicStall, IsClearForGradientsOfSeveralBatches) {
  for (const Phase phase : {Phase::kOptimizer, Phase::kCommunication, Phase::kBackward}) {
    const auto verdict = Judge(kRule, Stalling(3000, Every(4, 80ms, 0, phase))).verdict;
    EXPECT_EQ(verdict.kind, VerdictKind::kClear) << verdict.sentence;
    EXPECT_NE(verdict.sentence.find("no stall"), std::string::npos) << verdict.sentence;
  }
}

TEST(PeriodicStall, IsClearForARhythmThatCostsNothing) {
  const auto verdict = Judge(kRule, Stalling(20'000, Every(1000, 80ms))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kClear) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("less than 1 %"), std::string::npos) << verdict.sentence;
}

// Outliers by chance, few and many, alike and with a heavy tail, spread out and in bad stretches.
TEST(PeriodicStall, IsNotFooledByChance) {
  int slow = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    constexpr double kRates[] = {0.002, 0.01, 0.03, 0.1, 0.3};
    const double rate = kRates[seed % 5];
    const bool heavy = seed % 2 == 0, stretches = seed % 3 == 0;
    const auto outcome =
        Judge(kRule, Stalling(
                         5000,
                         [&](std::int64_t number, auto& random) -> More {
                           std::uniform_real_distribution<double> dice(0, 1);
                           const double here = stretches && number / 500 % 2 == 1 ? rate * 3 : rate;
                           const bool outlier = dice(random) < here;
                           const double size = heavy ? 0.1 / std::pow(1 - dice(random), 0.7) : 0.2;
                           if (!outlier) return {};
                           return {Duration(static_cast<std::int64_t>(size * 1e9)), Phase::kData};
                         },
                         seed));
    EXPECT_EQ(outcome.verdict.kind, VerdictKind::kClear)
        << "seed " << seed << ": " << outcome.verdict.sentence;
    slow += outcome.verdict.evidence["ranks"][0]["slow"].get<int>();
  }
  EXPECT_GT(slow, 6'000);
}

TEST(PeriodicStall, SaysWhatTheHostDidMore) {
  const Job steps = Stalling(3000, Every(100, 3s));
  const auto in_stall = [&](Time at) {
    return std::ranges::any_of(steps.ranks[0].steps, [&](const Step& step) {
      return step.wall > 1s && at > step.start && at <= step.start + step.wall;
    });
  };
  const auto more = [&](double in, double usual) {
    return [=](std::size_t, std::size_t tick) -> std::optional<double> {
      const Time at = steps.origin + static_cast<std::int64_t>(tick) * 500ms;
      return (in_stall(at) ? in : usual) * (1 + static_cast<double>(tick * 7 % 11) / 30);
    };
  };
  const auto sentence = [&](const std::vector<Extra>& extras) {
    return Judge(kRule, Stalling(3000, Every(100, 3s), 1, extras)).verdict.sentence;
  };
  const Extra write{{"disk_write_bytes_per_second", "sda"}, more(3e8, 2e5)};
  const Extra send{{"network_send_bytes_per_second", "eth0"}, more(5e7, 1e5)};
  const Extra cpu{{"node_cpu_percent", ""}, more(60, 25)};
  EXPECT_NE(sentence({write}).find("; disk writes of its node go with it"), std::string::npos)
      << sentence({write});
  EXPECT_NE(sentence({cpu, send}).find("; CPU use and network sends of its node go with it"),
            std::string::npos)
      << sentence({cpu, send});
  EXPECT_NE(sentence({}).find("; no CPU use, disk write or network send"), std::string::npos)
      << sentence({});
  const Job job = Stalling(3000, Every(100, 3s), 1, {write, cpu});
  const std::string whole = ToText(Judge(kRule, job));
  for (std::uint64_t slicing = 1; slicing <= 20; ++slicing) {
    ASSERT_EQ(whole, ToText(Judge(kRule, job, {}, slicing))) << "slicing " << slicing;
  }
}

// The runs of a rank over more than a day, with a rhythm that comes, goes, and comes again.
TEST(Rhythms, KeepAsMuchOfADayAsOfAnHour) {
  Rhythms rhythms;
  std::mt19937_64 random(1);
  std::size_t young = 0;
  for (std::int64_t at = 100; at < 1'000'000; at += 1 + static_cast<std::int64_t>(random() % 40)) {
    const bool regular = at / 5'000 % 3 == 0;
    if (regular) at += 100 - at % 100;
    const auto excess_ns = static_cast<std::int64_t>(1'000'000 + random() % 500'000'000);
    rhythms.Add({at, FromMicros(at * 100'000), FromMicros(at * 100'000 + 50'000),
                 regular ? 700'000'000 : excess_ns, random() % kGrowths, 0},
                5);
    if (at < 40'000) young = SaveFields(rhythms).size();
  }
  EXPECT_EQ(rhythms.all().size(), Rhythms::kMost);
  EXPECT_LT(SaveFields(rhythms).size(), std::min<std::size_t>(4'000, young * 3 / 2));
}

TEST(Rhythm, SaysWhatTheHostDidInMostOfTheNewestBeats) {
  constexpr unsigned kWrites = HostActivity::kSeen | HostActivity::kWrite;
  Rhythm rhythm;
  EXPECT_EQ(rhythm.Signs(), 0u);
  rhythm.Tell(0);  // the host was not seen
  EXPECT_EQ(rhythm.Signs(), 0u);
  for (int i = 0; i < 500; ++i) rhythm.Tell(HostActivity::kSeen | HostActivity::kSend);
  EXPECT_EQ(rhythm.Signs(), HostActivity::kSeen | HostActivity::kSend);
  for (int i = 0; i < 200; ++i) rhythm.Tell(i % 10 < 8 ? kWrites : unsigned{HostActivity::kSeen});
  EXPECT_EQ(rhythm.Signs(), kWrites);
}

TEST(Rhythm, RefusesAStateThatItNeverSaves) {
  Rhythm rhythm;
  rhythm.period = 100;
  rhythm.Count({200, FromMicros(7), FromMicros(9), 12, kPhaseCount, 0});
  Rhythm loaded;
  ASSERT_TRUE(loaded.Load(rhythm.Save()).ok());
  EXPECT_EQ(loaded.Save(), rhythm.Save());
  EXPECT_FALSE(loaded.Load(Rhythm().Save()).ok());  // without a period or a beat
  EXPECT_FALSE(loaded.Load(PackNumbers({1, 2, 3})).ok());
  rhythm.period = std::nan("");
  EXPECT_FALSE(loaded.Load(rhythm.Save()).ok());
}

TEST(PeriodicStall, IsUnknownBeforeEnoughSteps) {
  EXPECT_EQ(Judge(kRule, Stalling(0, Every(10, 1s))).verdict.sentence, "no steps reported");
  const auto verdict = Judge(kRule, Stalling(80, Every(10, 1s))).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kUnknown);
  EXPECT_EQ(verdict.sentence, "80 of 100 steps seen");
}

TEST(PeriodicStall, RefusesParametersOutOfRange) {
  const RuleType& rule = *FindRule(kRule);
  EXPECT_EQ(CompleteParameters(rule, {{"factor", 1}}).error().message,
            "PeriodicStall: factor is 1, but must be a number from 1.1 to 1000");
  EXPECT_FALSE(CompleteParameters(rule, {{"min_repeats", 2}}).ok());
  EXPECT_EQ(CompleteParameters(rule, {{"min_repeats", 3.5}}).error().message,
            "PeriodicStall: min_repeats is 3.5, but must be a whole number from 3 to 100 repeats");
  EXPECT_FALSE(CompleteParameters(rule, {{"every", 2}}).ok());
}

}  // namespace
}  // namespace stepscope::scenarios
