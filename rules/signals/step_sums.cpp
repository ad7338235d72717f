#include "rules/signals/step_sums.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/base/text.h"
#include "rules/engine/packing.h"
#include "rules/engine/sentence.h"

namespace stepscope {
namespace {

// Numbers in a state: steps, wall time, phases, evaluation. States of version 0.1.0 have ten phases
// and no evaluation.
constexpr std::size_t kPacked = 3 + kPhaseCount, kPackedBefore = 2 + 10;

constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

void Grow(std::uint64_t& sum, std::uint64_t by) {
  sum += std::min(by, kMost - sum);
}

}  // namespace

void StepSums::Add(const Step& step) {
  const Duration wall = std::max(step.wall, Duration::zero());
  Grow(steps_, 1);
  Grow(wall_ns_, static_cast<std::uint64_t>(wall.count()));
  Grow(evaluation_ns_,
       static_cast<std::uint64_t>(std::max(step.evaluation, Duration::zero()).count()));
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const Duration phase = std::clamp(step.phases[i], Duration::zero(), wall);
    Grow(phase_ns_[i], static_cast<std::uint64_t>(phase.count()));
  }
}

void StepSums::Add(const StepSums& other) {
  Grow(steps_, other.steps_);
  Grow(wall_ns_, other.wall_ns_);
  Grow(evaluation_ns_, other.evaluation_ns_);
  for (std::size_t i = 0; i < kPhaseCount; ++i) Grow(phase_ns_[i], other.phase_ns_[i]);
}

Duration StepSums::phase(Phase which) const {
  return Duration(static_cast<std::int64_t>(phase_ns_[static_cast<std::size_t>(which)]));
}

double StepSums::NamedSeconds() const {
  double named = 0;
  for (std::size_t i = 0; i < kPhaseCount; ++i) named += ToSeconds(phase(static_cast<Phase>(i)));
  return named;
}

double StepSums::ComputingSeconds() const {
  double computing = 0;
  for (const Phase which : {Phase::kForward, Phase::kLoss, Phase::kBackward, Phase::kOptimizer}) {
    computing += ToSeconds(phase(which));
  }
  return computing;
}

Duration StepSums::Mean(std::uint64_t sum_ns) const {
  return Duration(steps_ == 0 ? 0 : static_cast<std::int64_t>(sum_ns / steps_));
}

Duration StepSums::MeanPhase(Phase which) const {
  return Mean(phase_ns_[static_cast<std::size_t>(which)]);
}

double StepSums::Share(Phase which) const {
  if (wall_ns_ == 0) return 0;
  return static_cast<double>(phase(which).count()) / static_cast<double>(wall_ns_);
}

std::string StepSums::Save() const {
  std::vector<std::uint64_t> numbers = {steps_, wall_ns_};
  numbers.insert(numbers.end(), phase_ns_.begin(), phase_ns_.end());
  numbers.push_back(evaluation_ns_);
  return PackNumbers(numbers);
}

Status StepSums::Load(std::string_view packed) {
  const auto numbers = UnpackNumbers(packed, kPacked);
  if (!numbers.ok()) return numbers.error();
  const bool before = numbers->size() == kPackedBefore;
  const bool fits = (before || numbers->size() == kPacked) &&
                    std::ranges::all_of(*numbers, [](auto number) { return number <= kMost; });
  if (!fits) return Invalid("state: sums of steps are out of their range");
  steps_ = (*numbers)[0];
  wall_ns_ = (*numbers)[1];
  phase_ns_ = {};
  std::copy(numbers->begin() + 2, before ? numbers->end() : numbers->end() - 1, phase_ns_.begin());
  evaluation_ns_ = before ? 0 : numbers->back();
  return {};
}

std::string WhatGrew(const StepSums& longer, const StepSums& usual) {
  std::string_view most = "time outside of all phases";
  Duration outside = longer.MeanWall() - usual.MeanWall(), growth = Duration::zero();
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    const Duration grown = longer.MeanPhase(phase) - usual.MeanPhase(phase);
    outside -= grown;
    if (grown <= growth) continue;
    growth = grown;
    most = ToText(phase);
  }
  if (outside > growth) {
    growth = outside;
    most = "time outside of all phases";
  }
  return Format("mostly {} (+{} of a step)", most, StepText(growth));
}

Json PhaseSeconds(const StepSums& sums) {
  Json phases = Json::object();
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    const double seconds = std::chrono::duration<double>(sums.phase(phase)).count();
    if (seconds > 0) phases[std::string(ToText(phase))] = seconds;
  }
  return phases;
}

}  // namespace stepscope
