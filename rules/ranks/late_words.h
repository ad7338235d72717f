#pragma once

#include <array>
#include <string>

#include "rules/signals/step_sums.h"

namespace stepscope {

// The time of evaluations for each step.
Duration MeanEvaluation(const StepSums& sums);

// How much longer the parts of a late rank's steps are than those of the others, in words. `lost`
// is what the others wait of a step; half of it must show.
class StepDifferences {
 public:
  StepDifferences(const StepSums& late, const StepSums& others);

  // What takes the late rank longest: "data", "its own work in forward".
  std::string Longest(Duration lost) const;
  // The same for a rank of which only the thread tells, among phases in which ranks wait.
  std::string OwnWorkIn(Duration lost) const;
  // The phase in which the others wait; "" when no phase is much longer.
  std::string WaitsIn(Duration lost) const;

 private:
  Duration Of(Phase phase) const { return longer_[static_cast<std::size_t>(phase)]; }

  StepSums late_;
  std::array<Duration, kPhaseCount> longer_{};
  Duration outside_{}, evaluation_{};
};

}  // namespace stepscope
