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

  // Whether no step has ended for longer than the next one may take, until a sample at `at`; one
  // after the newest time without steps tells whether that belongs to a new start. A job
  // that tells of one step or of none has no pace: it trains all the time.
  bool IsBehind(Time at, Duration interval) const;
  // The first of the ticks of a node after the first step of a job that was started again: no step
  // ended for long, and nobody sampled the node for a part of that. Told once for each start; what
  // the node showed before belongs to the start.
  std::optional<std::size_t> FirstAfterRestart(const TickView& ticks, Duration interval);

  template <typename State>
  void Fields(State& state) {
    state("ranks", ranks_, [] { return Rank(); });
    state("pause_from", pause_from_);
    state("pause_to", pause_to_);
    state("nodes", nodes_, [] { return Node(); });
  }

 private:
  static constexpr std::int64_t kSteps = 3;     // so many mean steps may pass until one ends
  static constexpr Duration kLeastPause = 5s;   // no process starts and ends a step sooner
  static constexpr std::int64_t kHole = 4;      // intervals without a sample
  static constexpr Duration kLongestStep = 1h;  // longer ones count as this

  struct Rank {
    Time end{};  // the newest step's
    std::int64_t steps = 0, wall_us = 0;

    // So long a next step may take.
    Duration Longest() const;
    template <typename State>
    void Fields(State& state) {
      state("steps", steps);
      state("wall_us", wall_us);
      state("end", end);
    }
  };

  struct Node {
    Time last{};   // its newest tick
    Time hole{};   // the first tick after it was not sampled for a while
    Time taken{};  // the end of the newest pause that was told

    template <typename State>
    void Fields(State& state) {
      state("last", last);
      state("hole", hole);
      state("taken", taken);
    }
  };

  std::map<int, Rank, std::less<>> ranks_;
  // The newest time without a step: from the end of the step before it to that of the one after it.
  Time pause_from_{}, pause_to_{};
  std::map<std::string, Node, std::less<>> nodes_;
};

inline Duration TrainingTime::Rank::Longest() const {
  return std::chrono::microseconds(steps > 0 ? kSteps * (wall_us / steps) : 0);
}

inline void TrainingTime::Observe(const StepView& steps) {
  for (const Step& step : steps.steps) {
    Rank& rank = ranks_[steps.rank];
    const Time end = EndedAt(step);
    const bool pauses =
        rank.steps > 0 && step.start - rank.end > std::max(rank.Longest(), kLeastPause);
    if (pauses && end > pause_to_) pause_from_ = rank.end, pause_to_ = end;
    rank.end = std::max(rank.end, end);
    rank.wall_us += std::clamp(step.wall, Duration::zero(), kLongestStep) / 1us;
    ++rank.steps;
  }
}

inline bool TrainingTime::IsBehind(Time at, Duration interval) const {
  if (at > pause_from_ && at < pause_to_) return true;
  return !ranks_.empty() && std::ranges::all_of(ranks_, [&](const auto& each) {
    const Rank& rank = each.second;
    return rank.steps > 1 && at - rank.end > rank.Longest() + 2 * interval;
  });
}

inline std::optional<std::size_t> TrainingTime::FirstAfterRestart(const TickView& ticks,
                                                                  Duration interval) {
  std::optional<std::size_t> first;
  auto found = nodes_.find(ticks.node);
  if (found == nodes_.end()) found = nodes_.emplace(std::string(ticks.node), Node()).first;
  Node& node = found->second;
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    if (at - node.last > kHole * interval) node.hole = at;
    node.last = at;
    if (at < pause_to_ || node.taken >= pause_to_) continue;
    node.taken = pause_to_;
    if (node.hole > pause_from_ && node.hole < pause_to_) first = row;
  }
  return first;
}

}  // namespace stepscope
