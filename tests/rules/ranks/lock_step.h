#pragma once

// Jobs whose ranks step together: in each step all wait for the rank with the most work.

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "tests/scenarios/scenario.h"

namespace stepscope::scenarios {

// The own work of a rank in one step, and how much of it its thread sleeps.
struct OwnWork {
  Step step;
  Duration asleep{};

  void Add(Phase phase, Duration length) { step.phases[static_cast<std::size_t>(phase)] += length; }
  void Sleep(Phase phase, Duration length) {
    Add(phase, length);
    asleep += length;
  }
};

struct LockStep {
  int ranks = 4, nodes = 1;
  std::int64_t steps = 600;
  // Changes the usual work of a rank in a step: 2 ms for data, 30 ms forward, 58 ms backward, 8 ms
  // for the optimizer, and 2 ms outside of all phases.
  std::function<void(int rank, std::int64_t number, OwnWork& work)> change = [](auto...) {};
  Phase waits = Phase::kBackward;  // the phase in which ranks wait for each other
  bool spins = false;              // and whether their threads run while they wait
  bool gloo = true;                // waits of gloo, in phases of forward and backward
  Duration clock_ahead{};          // of every second node
  double threads = 1;              // part of the ticks with samples of threads
};

inline OwnWork UsualWork(std::int64_t number) {
  OwnWork work;
  work.step.number = number;
  work.Sleep(Phase::kData, 2ms);
  work.Add(Phase::kForward, 30ms);
  work.Add(Phase::kBackward, 58ms);
  work.Add(Phase::kOptimizer, 8ms);
  work.step.wall = 2ms;  // outside of all phases
  return work;
}

class LockStepMaker {
 public:
  explicit LockStepMaker(const LockStep& made) : made_(made) {}

  Job Make() {
    Begin();
    Time at = job_.origin + 3s;
    for (std::int64_t number = 0; number < made_.steps; ++number) at += Add(number, at);
    MakeTicks();
    return std::move(job_);
  }

 private:
  static constexpr Duration kTick = 500ms;

  Duration Ahead(int rank) const { return rank % made_.nodes % 2 == 1 ? made_.clock_ahead : 0ms; }

  void Begin() {
    job_.origin = FromMicros(kOriginUs);
    job_.facts.started = job_.facts.first_rank = job_.origin;
    for (int node = 0; node < made_.nodes; ++node) {
      job_.facts.nodes.push_back({Format("node-{}", node), 8, 0});
      job_.nodes.push_back({Format("node-{}", node), {}, {}, {}});
    }
    for (int rank = 0; rank < made_.ranks; ++rank) {
      const std::string node = Format("node-{}", rank % made_.nodes);
      job_.ranks.push_back({rank, node, {}});
      RankFacts facts{rank, node};
      facts.hides_communication = facts.sleeps_in_waits = made_.gloo;
      job_.facts.ranks.push_back(facts);
    }
    ran_.resize(static_cast<std::size_t>(made_.ranks));
  }

  // Adds a step of all ranks; returns its length.
  Duration Add(std::int64_t number, Time at) {
    std::vector<OwnWork> works;
    Duration longest{};
    for (int rank = 0; rank < made_.ranks; ++rank) {
      OwnWork work = UsualWork(number);
      made_.change(rank, number, work);
      work.step.wall =
          std::accumulate(work.step.phases.begin(), work.step.phases.end(), work.step.wall);
      longest = std::max(longest, work.step.wall);
      works.push_back(work);
    }
    for (int rank = 0; rank < made_.ranks; ++rank) {
      OwnWork& work = works[static_cast<std::size_t>(rank)];
      const Duration waits = longest - work.step.wall;
      work.Add(made_.waits, waits);
      if (!made_.spins) work.asleep += waits;
      work.step.wall = longest;
      work.step.start = at + Ahead(rank);
      job_.ranks[static_cast<std::size_t>(rank)].steps.push_back(work.step);
      ran_[static_cast<std::size_t>(rank)].push_back(longest - work.asleep);
    }
    return longest;
  }

  // A tick has the mean of the steps that ended in the time before it, or of the step it is in.
  void MakeTicks() {
    for (std::size_t node = 0; node < job_.nodes.size(); ++node) {
      NodeTicks& ticks = job_.nodes[node];
      const auto& steps = job_.ranks[node].steps;
      const Time end = steps.back().start + steps.back().wall;
      for (Time at = job_.origin + Ahead(static_cast<int>(node)); at < end; at += kTick) {
        ticks.at_us.push_back(ToMicros(at));
      }
      ticks.series.push_back({"node_cpu_percent", ""});
      ticks.columns.push_back({2, std::vector<std::int64_t>(ticks.at_us.size(), 1000), {}});
      for (std::size_t rank = node; rank < ran_.size(); rank += job_.nodes.size()) {
        ticks.series.push_back({"process_thread_cpu_percent", Format("rank{}", rank)});
        ticks.columns.push_back(ThreadOf(rank, ticks));
      }
    }
  }

  Column ThreadOf(std::size_t rank, const NodeTicks& ticks) const {
    Column column{2, {}, {}};
    const auto& steps = job_.ranks[rank].steps;
    std::size_t step = 0;
    for (std::size_t tick = 0; tick < ticks.at_us.size(); ++tick) {
      Duration wall{}, ran{};
      const Time at = FromMicros(ticks.at_us[tick]);
      const auto take = [&] { wall += steps[step].wall, ran += ran_[rank][step]; };
      while (step + 1 < steps.size() && steps[step].start + steps[step].wall <= at) take(), ++step;
      if (wall == 0ms && step < steps.size() && steps[step].start <= at) take();
      const double percent = wall > 0ms ? 100 * ToSeconds(ran) / ToSeconds(wall) : 0;
      const bool present = static_cast<double>(tick % 100) < made_.threads * 100;
      column.values.push_back(present ? ToScaled(percent, 2) : 0);
      column.present.push_back(present);
    }
    return column;
  }

  const LockStep& made_;
  Job job_;
  std::vector<std::vector<Duration>> ran_;  // CPU time of each rank's thread in each step
};

inline Job MakeJob(const LockStep& made) {
  return LockStepMaker(made).Make();
}

}  // namespace stepscope::scenarios
