#pragma once

// Values of a rank's work in which a late rank is above the others: each is a WorkMeasure.

#include <algorithm>
#include <optional>

#include "rules/ranks/rank_work.h"

namespace stepscope {

inline std::optional<double> OwnWork(const WorkSums& sums) {
  return sums.Own();
}
inline std::optional<double> NotInCalls(const WorkSums& sums) {
  return 1 - sums.Called();
}
inline std::optional<double> OwnAndLoose(const WorkSums& sums) {
  return sums.Own() + sums.Loose();
}
// By the GPU's clock, where it is known of steps enough: the clock takes them at random.
inline std::optional<double> DryGpu(const WorkSums& sums) {
  if (sums.dry_steps == 0 || 64 * sums.dry_steps < sums.steps) return std::nullopt;
  return sums.Dry();
}
inline std::optional<double> ThreadTime(const WorkSums& sums) {
  return sums.samples == 0 ? std::nullopt : std::optional(sums.Thread());
}
// The most time that the thread can have slept in calls in which it may wait for other ranks.
inline std::optional<double> AsleepInMixed(const WorkSums& sums) {
  return sums.samples == 0 ? std::nullopt
                           : std::optional(std::min(sums.Mixed(), 1 - sums.Thread()));
}

}  // namespace stepscope
