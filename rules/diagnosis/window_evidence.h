#pragma once

// What windows of operators and kernels say of a job's time: the best evidence for the kinds of
// time that they saw.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "rules/diagnosis/causes.h"
#include "rules/engine/window_facts.h"

namespace stepscope {

struct WindowEvidence {
  WindowFacts sum;  // of all windows and ranks that are used; `steps` of a window once
  std::vector<std::int64_t> windows;
  std::size_t ranks = 0;            // ranks of windows, a rank of two windows twice
  std::vector<std::string> unused;  // why others are not used, a sentence each

  bool any() const { return ranks > 0; }
  double Share(double WindowFacts::*part) const;
  // Idle though the work was there: the host launched too late, or in gaps between short kernels.
  double LaunchBound() const;
};

// Sums up windows whose steps are whole and about as long as the job's (`usual_step_s`; 0: not
// known). What steps take longer under the profiler is taken off `host_late_s`. Windows of devices
// go before those of hosts.
WindowEvidence SumWindows(std::span<const WindowFacts> windows, double usual_step_s);

// Divides the time of GPUs anew that a window of devices saw. Busy time and what the GPUs idled
// while the model computed are guesses of the driver and the host, and go by the window's parts;
// communication, copies and waits for results, of which marks tell as well, become as much as the
// window saw where that is more. By the GPU's clock (`gpu_clock`) busy time is known, too. Waits
// for data, what happens between steps or seldom, and unknown time stay. The total stays as well.
void TakeWindows(const WindowEvidence& evidence, bool gpu_clock, TimeByCause& budget);

// The time of the windows themselves by cause, for a job of which nothing else is known. Waits for
// data are raw input, since a window does not tell reading from preprocessing.
TimeByCause BudgetOf(const WindowEvidence& evidence);

// "In 8 steps of window 1 the GPUs computed 5.8 % of the time, ..."; "" without windows.
std::string SentenceOf(const WindowEvidence& evidence);
Json ToJson(const WindowEvidence& evidence);

}  // namespace stepscope
