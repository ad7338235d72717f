#include <functional>
#include <random>

#include "tests/rules/pages/footprint.h"

namespace stepscope::scenarios {
namespace {

constexpr std::size_t kMinute = 120;  // ticks

void Lengthen(Step& step, Phase phase, Duration by) {
  step.wall += by;
  step.phases[static_cast<std::size_t>(phase)] += by;
}

struct Pace {
  std::size_t minutes = 15, gpus = 1, ranks = 1;
  Duration first = 20s, wall = 400ms;
  double gpu = 85;
  std::vector<Extra> extras = {};
};

// Steps one after the other, as many as fit; each as long as `change` makes it.
Job Paced(const Pace& pace, const std::function<void(int rank, Step&)>& change) {
  Scenario scenario;
  scenario.gpus = pace.gpus;
  scenario.stretches = {{pace.minutes * kMinute, pace.gpu, 45, 20, 0, 8}};
  scenario.extras = pace.extras;
  scenario.ranks.assign(pace.ranks, {pace.first, 0});
  Job job = MakeJob(scenario);
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.02);
  const Time end = job.origin + std::chrono::minutes(pace.minutes);
  for (RankSteps& rank : job.ranks) {
    Time start = job.origin + pace.first;
    for (std::int64_t number = 0; start < end; ++number) {
      Step step{number, start, pace.wall, {}};
      const double longer = 1 + std::max(-0.05, noise(random));
      step.wall =
          Duration(static_cast<std::int64_t>(static_cast<double>(step.wall.count()) * longer));
      change(rank.rank, step);
      start += step.wall;
      if (start < end) rank.steps.push_back(step);
    }
  }
  return job;
}

double MinuteOf(const Step& step) {
  return static_cast<double>(ToMicros(step.start) - kOriginUs) / 60e6;
}

Panel Steps(Phase phase, int rank = 0) {
  return {"Steps of rank " + std::to_string(rank) + ", s", {}, {}, rank, phase};
}

Footprint WaitsFor(const std::string& rule, Phase phase, std::size_t ranks) {
  Pace pace;
  pace.ranks = ranks;
  pace.gpu = 55;
  Job job = Paced(pace, [=](int, Step& step) {
    const auto by = static_cast<int>(step.number * 7 % 5) * 30ms;
    Lengthen(step, phase, MinuteOf(step) < 4 ? 10ms : 200ms + by);
  });
  return {rule, std::move(job), {Steps(phase)}};
}

Footprint Loaders() {
  Footprint made = WaitsFor("Dataloader", Phase::kData, 1);
  made.job.facts.nodes[0].cores = 16;
  made.job.facts.ranks[0].loader_workers = 1;
  return made;
}

Footprint Late() {
  Pace pace;
  pace.ranks = 3;
  Job job = Paced(pace, [](int rank, Step& step) {
    step.phases[static_cast<std::size_t>(Phase::kForward)] = 150ms;
    Lengthen(step, Phase::kCommunication, 10ms);
    if (rank == 1) {
      Lengthen(step, Phase::kForward, 120ms);
    } else {
      Lengthen(step, Phase::kCommunication, 120ms);
    }
  });
  return {"Straggler",
          std::move(job),
          {Steps(Phase::kCommunication, 0), Steps(Phase::kCommunication, 1)}};
}

Footprint Outliers() {
  std::mt19937_64 random(11);
  Job job = Paced({}, [&](int, Step& step) {
    if (random() % 60 == 0)
      Lengthen(step, Phase::kData, 1s + std::chrono::milliseconds(random() % 2000));
  });
  return {"StepOutlier", std::move(job), {Steps(Phase::kData)}};
}

Footprint Periodic() {
  const auto checkpoint = [](int, Step& step) {
    if (step.number % 120 == 119) Lengthen(step, Phase::kCheckpoint, 6s);
  };
  const Job before = Paced({}, checkpoint);
  Pace pace;
  pace.extras = {{{"disk_write_bytes_per_second", "sda"},
                  [&](std::size_t, std::size_t tick) -> std::optional<double> {
                    const Time at = before.origin + static_cast<std::int64_t>(tick) * 500ms;
                    const bool writes =
                        std::ranges::any_of(before.ranks[0].steps, [&](const Step& step) {
                          return step.wall > 5s && at > step.start && at <= step.start + step.wall;
                        });
                    return (writes ? 4e8 : 1e6) * (1 + static_cast<double>(tick * 7 % 11) / 40);
                  }}};
  Job job = Paced(pace, checkpoint);
  return {"PeriodicStall",
          std::move(job),
          {Steps(Phase::kCheckpoint),
           {"Written, MB/s", {{{"disk_write_bytes_per_second", "sda"}, "", 1e6}}}}};
}

Footprint Slower() {
  Job job = Paced({}, [](int, Step& step) {
    if (MinuteOf(step) > 8) Lengthen(step, Phase::kForward, 110ms);
  });
  return {"StepTimeRegression", std::move(job), {Steps(Phase::kForward)}};
}

Footprint Growing() {
  Job job =
      Paced({}, [](int, Step& step) { Lengthen(step, Phase::kForward, step.number * 400us); });
  return {"StepTimeTrend", std::move(job), {Steps(Phase::kForward)}};
}

Footprint Stalled() {
  Pace pace;
  pace.minutes = 50;
  Job job = Paced(pace, [](int, Step&) {});
  std::erase_if(job.ranks[0].steps, [](const Step& step) { return MinuteOf(step) > 12; });
  for (std::size_t i = 0; i < job.nodes[0].series.size(); ++i) {
    if (job.nodes[0].series[i].metric != "gpu_util_percent") continue;
    auto& values = job.nodes[0].columns[i].values;
    std::fill(values.begin() + 12 * kMinute, values.end(), 0);
  }
  return {"StalledTraining",
          std::move(job),
          {Steps(Phase::kOther), {"GPU use, %", {{{"gpu_util_percent", "0"}, ""}}}}};
}

Footprint Initialisation() {
  Pace pace;
  pace.minutes = 35;
  pace.first = 27min;
  return {"MaxInitializationTime", Paced(pace, [](int, Step&) {}), {Steps(Phase::kOther)}};
}

Footprint Phases() {
  Job job = Paced({}, [](int, Step& step) {
    step.phases[static_cast<std::size_t>(Phase::kForward)] = step.wall / 3;
    step.phases[static_cast<std::size_t>(Phase::kBackward)] = step.wall / 2;
    Lengthen(step, Phase::kData, 60ms);
  });
  return {
      "OverallFrameworkMetrics", std::move(job), {Steps(Phase::kBackward), Steps(Phase::kData)}};
}

Footprint Report() {
  Footprint made = WaitsFor("ProfilerReport", Phase::kData, 1);
  made.panels.push_back({"GPU use, %", {{{"gpu_util_percent", "0"}, ""}}});
  return made;
}

}  // namespace

std::vector<Footprint> StepFootprints() {
  return {WaitsFor("DataloaderBottleneck", Phase::kData, 1),
          WaitsFor("CommunicationBottleneck", Phase::kCommunication, 2),
          Loaders(),
          Late(),
          Outliers(),
          Periodic(),
          Slower(),
          Growing(),
          Stalled(),
          Initialisation(),
          Phases(),
          Report()};
}

}  // namespace stepscope::scenarios
