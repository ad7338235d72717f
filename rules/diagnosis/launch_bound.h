#pragma once

#include "rules/diagnosis/window_evidence.h"
#include "rules/engine/rule.h"
#include "rules/signals/step_sums.h"

namespace stepscope {

// What tells whether GPUs wait for launches.

// Whether the steps compute their model for nearly all of their time; steps without phases may.
// Steps of which less goes to it have another problem, even where the training thread itself is
// busy with it: they wait, copy, or do what no phase names.
bool MostlyComputes(const StepSums& steps);

// The mean length of a step, in seconds; 0 of none.
double MeanStepSeconds(const StepSums& steps);

// The verdict, with the evidence that it has, where windows of devices tell and the host does not:
// a finding where GPUs waited for launches for more than this share of the time.
Verdict JudgeLaunches(const WindowEvidence& windows, double threshold, Verdict verdict);

}  // namespace stepscope
