#pragma once

#include <algorithm>
#include <chrono>
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
  static constexpr std::int64_t kSteps = 3;      // so many mean steps may pass until one ends
  static constexpr Duration kLeastRestart = 5s;  // no process starts and ends a step sooner
  static constexpr Duration kLongestStep = 1h;   // longer ones count as this

  struct Rank {
    std::int64_t number = 0;  // the newest step's
    Time end{};               // the newest step's
    std::int64_t steps = 0, wall_us = 0;

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

inline Duration TrainingTime::Rank::Longest() const {
  return std::chrono::microseconds(steps > 0 ? kSteps * (wall_us / steps) : 0);
}

inline void TrainingTime::Observe(const StepView& steps) {
  for (const Step& step : steps.steps) {
    Rank& rank = ranks_[steps.rank];
    const bool again = rank.steps > 0 && step.number <= rank.number;
    const Time end = EndedAt(step);
    if (again && step.start - rank.end > std::max(rank.Longest(), kLeastRestart)) {
      restarted_ = std::max(restarted_.value_or(end), end);
    }
    rank.number = step.number;
    rank.end = std::max(rank.end, end);
    rank.wall_us += std::clamp(step.wall, Duration::zero(), kLongestStep) / 1us;
    ++rank.steps;
  }
}

inline bool TrainingTime::IsBehind(Time at, Duration interval) const {
  return !ranks_.empty() && std::ranges::all_of(ranks_, [&](const auto& each) {
    const Rank& rank = each.second;
    return rank.steps > 1 && at - rank.end > rank.Longest() + 2 * interval;
  });
}

inline std::optional<std::size_t> TrainingTime::FirstAfterRestart(const TickView& ticks) {
  if (!restarted_) return std::nullopt;
  Time& taken = taken_[std::string(ticks.node)];
  if (taken >= *restarted_) return std::nullopt;
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    if (ticks.At(row) < *restarted_) continue;
    taken = *restarted_;
    return row;
  }
  return std::nullopt;
}

}  // namespace stepscope
