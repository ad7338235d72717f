// Steps and clocks that cannot be true make no rule find anything in a healthy job.

#include <gtest/gtest.h>

#include <functional>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

// Two ranks on two nodes that compute all the time.
Job HealthyJob(Duration wall = 200ms, std::size_t steps = 1500) {
  Scenario scenario;
  scenario.nodes = 2;
  scenario.stretches = {{700, 97, 40, 10}};
  scenario.extras = {{{"memory_used_percent", ""}, [](auto, auto) { return 40; }},
                     {{"gpu_memory_used_percent", "0"}, [](auto, auto) { return 80; }}};
  scenario.ranks = {{5s, steps, wall, 1, 1}, {5s, steps, wall, 1, 1}};
  Job job = MakeJob(scenario);
  for (RankFacts& rank : job.facts.ranks) rank.loader_workers = 4;
  return job;
}

Job Changed(const std::function<void(Step& step, int rank)>& change) {
  Job job = HealthyJob();
  for (RankSteps& rank : job.ranks) {
    for (Step& step : rank.steps) change(step, rank.rank);
  }
  return job;
}

std::vector<Job> BadJobs() {
  return {
      Changed([](Step& step, int) { step.phases = {}; }),
      Changed([](Step& step, int) {  // a phase that is longer than its step, or less than nothing
        if (step.number % 50 == 0) step.phases[0] = 1h;
        if (step.number % 50 == 1) step.phases[0] = -1h;
      }),
      Changed([](Step& step, int) {
        if (step.number % 50 == 0) step.wall = step.number % 100 == 0 ? 0s : -5s;
      }),
      Changed([](Step& step, int rank) {
        if (rank == 1) step.start += 5s;  // its clock is ahead
      }),
      Changed([](Step& step, int) { step.number = 7; }),
      Changed([](Step& step, int) { step.number = -step.number; }),
      HealthyJob(90us, 300'000),  // ten thousand steps a second
  };
}

class BadInput : public testing::TestWithParam<RuleType> {};

TEST_P(BadInput, MakesNoFinding) {
  const auto jobs = BadJobs();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto outcome = Judge(GetParam().name, jobs[i]);
    EXPECT_NE(outcome.verdict.kind, VerdictKind::kFinding) << i << ": " << outcome.verdict.sentence;
    EXPECT_TRUE(outcome.findings.empty()) << i << ": " << outcome.findings.front().sentence;
    EXPECT_FALSE(outcome.verdict.sentence.empty());
  }
}

// What is not known yet has no finding, wherever a job is cut.
TEST_P(BadInput, UnknownHasNoFinding) {
  for (const std::size_t steps : {0, 1, 5, 19, 20, 21, 60, 119}) {
    const auto outcome = Judge(GetParam().name, HealthyJob(200ms, steps));
    if (outcome.verdict.kind != VerdictKind::kUnknown) continue;
    EXPECT_TRUE(outcome.findings.empty()) << steps;
    EXPECT_FALSE(outcome.verdict.active) << steps;
    EXPECT_EQ(outcome.verdict.share, 0) << steps;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryRule, BadInput, testing::ValuesIn(Catalog().begin(), Catalog().end()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace stepscope::scenarios
