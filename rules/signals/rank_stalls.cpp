#include "rules/signals/rank_stalls.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr std::size_t kWarmUp = 32;       // steps before any can be slow
constexpr std::int64_t kLongestRun = 64;  // slow steps in a row; more are a new pace
constexpr std::size_t kMostPending = 20'000;

}  // namespace

// Lost steps count for positions, and a job that starts over continues them.
void RankStalls::Advance(std::int64_t number) {
  constexpr std::int64_t kMostLost = 1'000'000;
  const std::int64_t by = number - number_;
  position_ += all_.steps() > 0 && by >= 1 && by <= kMostLost ? by : 1;
  number_ = number;
}

const Rhythm* RankStalls::Add(const Step& step, const Limits& limits) {
  Advance(step.number);
  all_.Add(step);
  const auto wall_ns = static_cast<double>(step.wall.count());
  const bool slow = lengths_.size() >= kWarmUp && wall_ns > limits.factor * UsualNs();
  if (slow && open_.steps() == 0) {
    open_at_ = position_;
    open_from_ = step.start;
  }
  if (slow) {
    open_.Add(step);
    open_to_ = EndedAt(step);
  }
  const bool closes = !slow && open_.steps() > 0;
  const bool new_pace = closes && open_.steps() > kLongestRun;
  const Rhythm* rhythm = nullptr;
  if (new_pace) open_ = StepSums();
  if (closes && !new_pace) {
    SlowRun run = TakeOpen();
    if (pending_.size() < kMostPending) {
      pending_[run.at] = {run.from, run.to, EndedAt(step)};
      run.signs = SlowRun::kUntold;
    }
    rhythm = rhythms_.Add(run, limits.min_repeats);
  }
  lengths_.Add(AmountBin(wall_ns));
  if (!slow) usual_.Add(step);
  return rhythm;
}

SlowRun RankStalls::TakeOpen() {
  SlowRun run{open_at_, open_from_, open_to_, 0, kPhaseCount, 0};
  const std::int64_t steps = open_.steps(), wall_ns = open_.wall().count();
  run.excess_ns = std::max<std::int64_t>(1, wall_ns - Usual().count() * steps);
  std::int64_t outside = wall_ns - usual_.MeanWall().count() * steps, most = 0;
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    const std::int64_t grown = open_.phase(phase).count() - usual_.MeanPhase(phase).count() * steps;
    outside -= grown;
    if (grown <= most) continue;
    most = grown;
    run.grew = i;
  }
  if (outside > most) run.grew = kPhaseCount;
  open_ = StepSums();
  return run;
}

void RankStalls::Scan(Time at, const HostActivity& node, int cores) {
  while (!pending_.empty()) {
    const auto& [position, stall] = *pending_.begin();
    if (std::max(stall.closed, node.Until(stall.to)) >= at) return;
    rhythms_.Tell(position, node.SignsOf(stall.from, stall.to, cores));
    pending_.erase(pending_.begin());
  }
}

}  // namespace stepscope
