#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "rules/engine/state.h"

namespace stepscope {

// The time in which a training takes its steps: not the time after its newest step, in which it may
// save, export or hang, and not that of a job that was killed until its new processes have ended a
// step. For rules that judge how busy devices are, and see all steps.
class TrainingTime {
 public:
  void Observe(const StepView& steps);

  // Whether no step has ended for longer than the next one may take, until a sample at `at`. A job
  // that tells of one step or of none has no pace: it trains all the time.
  bool IsBehind(Time at, Duration interval) const;
  // The first of the ticks of a node after the first step of a job that was started again; told
  // once for each start. What the node showed before belongs to the start.
  std::optional<std::size_t> FirstAfterRestart(const TickView& ticks);

  template <typename State>
  void Fields(State& state) {
    state("ranks", ranks_, [] { return Rank(); });
    state("restarted", restarted_);
    state("taken", taken_, [] { return Time{}; });
  }

 private:
  struct Rank {
    std::int64_t number = 0, steps = 0, wall_us = 0;  // of the newest step; of all of them
    Time end{};                                       // of the newest step

    // So long a next step may take.
    Duration Longest() const;
    template <typename State>
    void Fields(State& state) {
      state("number", number);
      state("steps", steps);
      state("wall_us", wall_us);
      state("end", end);
    }
  };

  std::map<int, Rank, std::less<>> ranks_;
  std::optional<Time> restarted_;                   // the end of the first step of a new start
  std::map<std::string, Time, std::less<>> taken_;  // the start that a node was told of
};

}  // namespace stepscope
