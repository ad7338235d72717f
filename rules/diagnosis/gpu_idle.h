#pragma once

// What the host did while the GPU had nothing to do, by the GPU's own clock.

#include "rules/diagnosis/causes.h"
#include "rules/signals/step_sums.h"

namespace stepscope {

// Idle time of the GPU before the steps of a rank, divided by what the host was in meanwhile: the
// waits, copies and pauses of the step, and what of it no phase names; what these cannot fill went
// to launching. Waits for data stand under kRawInput until somebody knows who was slow.
//
// Where steps are short, the clock times some of them only, at random.
struct GpuIdleSums {
  StepSums steps;    // steps for which the GPU's clock is known
  TimeByCause idle;  // seconds of these steps

  void Add(const Step& step);
  void Add(const GpuIdleSums& other);

  // Whether the steps that were timed stand for all of them.
  bool IsEnoughFor(const StepSums& all) const;
  // The idle time of all steps, which is as much more than that of the timed ones as there are more
  // steps. What the host did in steps of a kind that was not timed counts whole.
  TimeByCause Of(const StepSums& all) const;

  template <typename State>
  void Fields(State& state) {
    state("steps", steps);
    state("idle", idle);
  }
};

}  // namespace stepscope
