#include "rules/signals/training_time.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr std::int64_t kSteps = 3;      // so many mean steps may pass until one ends
constexpr Duration kLeastRestart = 5s;  // no process starts and ends a step sooner
constexpr Duration kLongestStep = 1h;   // longer ones count as this

}  // namespace

Duration TrainingTime::Rank::Longest() const {
  return std::chrono::microseconds(steps > 0 ? kSteps * (wall_us / steps) : 0);
}

void TrainingTime::Observe(const StepView& steps) {
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

bool TrainingTime::IsBehind(Time at, Duration interval) const {
  return !ranks_.empty() && std::ranges::all_of(ranks_, [&](const auto& each) {
    const Rank& rank = each.second;
    return rank.steps > 1 && at - rank.end > rank.Longest() + 2 * interval;
  });
}

std::optional<std::size_t> TrainingTime::FirstAfterRestart(const TickView& ticks) {
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
