#include "agent/marks/held_steps.h"

#include <algorithm>

namespace stepscope {

void HeldSteps::Add(const Step& step, std::uint64_t start_ns, const Take& take) {
  if (!gpu_ && steps_.empty()) return take(step, start_ns);
  steps_.push_back({step, start_ns});
  Release(take);
}

// The newest one: a second training in the ring may count from the start again.
HeldSteps::Held* HeldSteps::Find(std::uint64_t number) {
  const auto found =
      std::ranges::find(steps_.rbegin(), steps_.rend(), static_cast<std::int64_t>(number),
                        [](const Held& held) { return held.step.number; });
  return found == steps_.rend() ? nullptr : &*found;
}

void HeldSteps::AddGpuTime(const Mark& mark) {
  gpu_ = true;
  Held* held = Find(mark.step);
  if (held == nullptr) return;
  if (mark.name < kPhaseCount) {
    held->step.gpu_phases[mark.name] += mark.duration;
    return;
  }
  if (mark.name != kGpuIdleMark) return;
  if (!mark.clamped) held->step.gpu_idle = mark.duration;
  const auto place = static_cast<std::size_t>(
      std::ranges::find(steps_, held, [](const Held& each) { return &each; }) - steps_.begin());
  complete_ = std::max(complete_, place + 1);
}

void HeldSteps::Release(const Take& take) {
  while (!steps_.empty()) {
    const Held& first = steps_.front();
    const bool waits =
        gpu_ && complete_ == 0 && first.rounds < kMostRounds && steps_.size() <= most_steps_;
    if (waits) break;
    take(first.step, first.start_ns);
    steps_.pop_front();
    if (complete_ > 0) --complete_;
  }
}

void HeldSteps::EndRound(const Take& take) {
  for (Held& held : steps_) ++held.rounds;
  Release(take);
}

void HeldSteps::ReleaseAll(const Take& take) {
  for (const Held& held : steps_) take(held.step, held.start_ns);
  steps_.clear();
  complete_ = 0;
}

}  // namespace stepscope
