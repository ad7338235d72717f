#pragma once

// The time of a training, divided by cause: a budget that adds up to all of it.

#include <cstddef>
#include <optional>

#include "rules/diagnosis/causes.h"
#include "rules/diagnosis/gpu_idle.h"
#include "rules/diagnosis/host_sums.h"
#include "rules/signals/step_sums.h"

namespace stepscope {

// The steps of the ranks of a node.
struct RankSums {
  StepSums steps{};
  GpuIdleSums gpu{};
  std::size_t ranks = 0;
};

// The budget of a node with GPUs; it adds up to busy + idle. Busy time is as measured, and idle
// time goes to the phases in which steps stalled, as far as it reaches: by the GPU's clock where
// that is known for most of the step time, else by the host's. What of a step no phase names is
// output processing where the training thread computed in it. The remainder counts first as time
// outside of steps, then as time in steps (the GPUs idled while the model computed, or did nothing
// at all, so that the model computed on the CPU); both go to the causes that the host showed.
// Evaluations take their part of all of it.
TimeByCause GpuBudget(const HostSums& host, const RankSums& ranks);

// The budget of the time of the steps of a node without GPUs, and of the evaluations between them.
// What no phase names is unknown; so is all of a training that names no phase. `exchanges`: ranks
// exchange gradients within the backward pass, which is communication as far as the training thread
// slept in it.
TimeByCause StepBudget(const HostSums& host, const StepSums& steps, bool exchanges = false);

// What a late rank cost, as parts of all time: the others' waits for it, and what it did longer
// itself, where that was not the computing.
struct LateTime {
  double waited = 0, own = 0;
  std::optional<Phase> phase = {};  // in which it was longer; none: in none
};
// Moves that time to kLateRank. The waits stood under communication, or in the computing in whose
// calls the others waited.
void MoveToLateRank(TimeByCause& budget, const LateTime& late);

// Whether times by the GPU's clock are known for most of the step time.
bool KnowsGpuClock(const RankSums& ranks);

// The advice for a cause, for a job whose steps report their phases or not.
std::string_view AdviceOf(Cause cause, bool steps_told);

}  // namespace stepscope
