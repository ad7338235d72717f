#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "rules/engine/state.h"
#include "rules/signals/step_sums.h"

namespace stepscope {

// Samples of a node, by whether its GPUs waited for a training thread.
struct LaunchCounts {
  std::int64_t judged = 0, launching = 0, unexplained = 0;
  double lost = 0;        // parts of the node's GPUs that idled in `launching`, summed over samples
  std::size_t nodes = 1;  // number of nodes that were added up

  void Add(const LaunchCounts& other) {
    judged += other.judged;
    launching += other.launching;
    unexplained += other.unexplained;
    lost += other.lost;
  }
  double Share(std::int64_t of) const {
    return judged == 0 ? 0 : static_cast<double>(of) / static_cast<double>(judged);
  }
  template <typename State>
  void Fields(State& state) {
    state("judged", judged);
    state("launching", launching);
    state("unexplained", unexplained);
    state("lost", lost);
  }
};

// The samples and steps of a node in one minute.
struct LaunchMinute {
  LaunchCounts counts;
  std::optional<Time> first;  // first judged sample
  StepSums steps;

  template <typename State>
  void Fields(State& state) {
    state("counts", counts);
    state("first", first);
    state("steps", steps);
  }
};
// A minute of all nodes.
struct LaunchMinutes {
  std::map<std::string, LaunchMinute, std::less<>> nodes;

  template <typename State>
  void Fields(State& state) {
    state("nodes", nodes, [] { return LaunchMinute(); });
  }
};

}  // namespace stepscope
