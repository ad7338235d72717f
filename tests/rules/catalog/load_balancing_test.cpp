#include <gtest/gtest.h>

#include "rules/signals/workloads.h"
#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "LoadBalancing";

// All GPUs at `use` but the last one.
Scenario Uneven(std::size_t gpus, double use, double last, std::size_t ticks = 2000) {
  Scenario scenario;
  scenario.gpus = gpus;
  scenario.stretches = {{ticks, use, 20, 5, 0, 0}};
  scenario.extras = {
      {{"gpu_util_percent", std::to_string(gpus - 1)}, [=](auto, auto) { return last; }}};
  return scenario;
}

TEST(LoadBalancing, FiresAndNamesThePairAndTheGpuThatNeverWorked) {
  const auto outcome = Judge(kRule, MakeJob(Uneven(4, 80, 0)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(outcome.verdict.sentence,
            "The use of GPU 3 of node node-0 (mean 0.0 %) and GPU 0 of node node-0 (mean 80.0 %) "
            "is 0.80 apart; the threshold is 0.2. 1 of 4 GPUs never worked: GPU 3 of node node-0. "
            "It fired 9 times in 9 scans.");
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_EQ(outcome.verdict.evidence["pairs"].size(), 3u);
  EXPECT_EQ(outcome.verdict.evidence["never_worked"][0]["device"], "3");
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].from, FromMicros(kOriginUs) + 500s);  // the first judged sample
}

// 99 and 100 % count as all other percentages do.
TEST(LoadBalancing, IsClearWhenTheUseIsAlike) {
  EXPECT_EQ(Judge(kRule, MakeJob(Uneven(4, 100, 99))).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, MakeJob(Uneven(4, 80, 60))).verdict.kind, VerdictKind::kClear);
  EXPECT_EQ(Judge(kRule, MakeJob(Uneven(4, 80, 59))).verdict.kind, VerdictKind::kFinding);
}

TEST(LoadBalancing, SaysThatItNoLongerFires) {
  Scenario later = Uneven(2, 80, 0);
  later.extras[0].value = [](auto, auto tick) { return tick < 1700 ? 0.0 : 80.0; };
  const auto verdict = Judge(kRule, MakeJob(later)).verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_FALSE(verdict.active);
}

TEST(LoadBalancing, AShortScanAtTheEndCountsByItsLength) {
  Scenario even = Uneven(2, 80, 0, 1380);
  even.extras[0].value = [](auto, auto tick) { return tick < 1090 ? 0.0 : 80.0; };
  const auto verdict = Judge(kRule, MakeJob(even)).verdict;
  EXPECT_EQ(verdict.evidence["triggers"], 3) << verdict.sentence;
  EXPECT_EQ(verdict.evidence["scans"], 4);
  EXPECT_NEAR(verdict.share, 160.0 / (160 + 29.5), 0.001);
}

TEST(LoadBalancing, IsUnknownWithoutTwoGpusOrEnoughSamples) {
  EXPECT_EQ(Judge(kRule, MakeJob(Uneven(1, 80, 80))).verdict.sentence,
            "the job has 1 GPU: there is nothing to balance");
  EXPECT_EQ(Judge(kRule, MakeJob(Uneven(4, 80, 0, 1040))).verdict.sentence,
            "0 of 4 GPUs have 60 samples since the initialisation");
  EXPECT_EQ(Judge(kRule, MakeJob(Uneven(4, 80, 0, 900))).verdict.sentence,
            "900 of 1,000 samples seen");
  Scenario no_gpu = Uneven(4, 80, 0);
  no_gpu.gpus = 0;
  no_gpu.extras.clear();
  EXPECT_EQ(Judge(kRule, MakeJob(no_gpu)).verdict.sentence, "no GPU on any node");
}

TEST(LoadBalancing, RefusesParametersOutOfRange) {
  EXPECT_EQ(CompleteParameters(*FindRule(kRule), {{"threshold", 20}}).error().message,
            "LoadBalancing: threshold is 20, but must be a number from 0 to 1");
}

TEST(Workloads, AreAsFarApartAsTheAreaBetweenThem) {
  Workload idle, busy, half;
  for (int i = 0; i < 100; ++i) {
    idle.Add(0);
    busy.Add(10'000);
    half.Add(i % 2 == 0 ? 0 : 10'000);
  }
  EXPECT_DOUBLE_EQ(idle.DistanceTo(busy), 1);
  EXPECT_DOUBLE_EQ(idle.DistanceTo(half), 0.5);
  EXPECT_DOUBLE_EQ(half.DistanceTo(half), 0);
  EXPECT_TRUE(idle.NeverWorked());
  EXPECT_FALSE(half.NeverWorked());
}

// The one GPU of 512 that is apart is among the compared ones.
TEST(Workloads, CompareOfManyGpusThoseThatAreFar) {
  std::vector<Workload> workloads(512);
  std::vector<std::pair<Subject, const Workload*>> gpus;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    for (int sample = 0; sample < 100; ++sample) {
      workloads[i].Add(i == 300 ? 2'000 : 8'000 + static_cast<std::uint32_t>(i % 5) * 100);
    }
    gpus.emplace_back(Subject{"n", std::to_string(i)}, &workloads[i]);
  }
  const auto pairs = PairsOf(gpus);
  EXPECT_EQ(pairs.size(), kMostCompared * (kMostCompared - 1) / 2);
  EXPECT_EQ(pairs[0].less.device, "300");
  EXPECT_DOUBLE_EQ(pairs[0].distance, 0.64);
}

}  // namespace
}  // namespace stepscope::scenarios
