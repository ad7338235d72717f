#pragma once

#include <array>
#include <string>

#include "rules/ranks/late_rank.h"
#include "rules/signals/step_sums.h"

namespace stepscope {

// The time of evaluations for each step.
Duration MeanEvaluation(const StepSums& sums);

// How much longer the parts of a late rank's steps are than those of the others, in words. `lost`
// is what the others wait of a step; half of it must show.
class StepDifferences {
 public:
  StepDifferences(const StepSums& late, const StepSums& others);

  // Says in `found` what takes the late rank longest: "data", "its own work in forward".
  void TellLongest(LateRank::Found& found) const;
  // What takes it longest among the phases in which ranks wait, where only its thread tells.
  std::string OwnWorkIn(Duration lost) const;
  // The phase in which the others wait; "" when no phase is much longer.
  std::string WaitsIn(Duration lost) const;

 private:
  Duration Of(Phase phase) const { return longer_[static_cast<std::size_t>(phase)]; }

  StepSums late_;
  std::array<Duration, kPhaseCount> longer_{};
  Duration outside_{}, evaluation_{};
};

// "Rank 1 on node a is late: it works 50.1 ms longer than the median rank on a step (38 % of it),
// mostly data; the others wait for it in backward."
std::string Sentence(const LateRank::Found& found);

}  // namespace stepscope
