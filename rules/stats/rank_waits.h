#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "core/model/step.h"
#include "rules/engine/state.h"
#include "rules/stats/recent_waits.h"
#include "rules/stats/statistics.h"
#include "rules/stats/wait_rhythm.h"

namespace stepscope {

// The waits of a rank. Its first step is counted, but has no part in the sums: it waits for workers
// that start.
struct RankWaits {
  std::string node;
  TotalBins all{kPercentBins};  // the share of each step
  RecentWaits recent;
  WaitRhythm rhythm;
  double wait_s = 0, wall_s = 0;            // sums over all steps
  double host_s = 0;                        // waits of the host, those that the GPU hid included
  double longest_s = 0;                     // the longest wait
  double firing_s = 0;                      // step time at which it fired
  bool active = false;                      // the newest steps are above the threshold
  Time first{}, last{};                     // start of the first step, end of the newest
  std::optional<Time> fired;                // end of the step at which it first fired
  std::int64_t fired_step = 0, newest = 0;  // numbers of steps

  template <typename State>
  void Fields(State& state) {
    state("node", node);
    state("all", all);
    state.Dropped("window", std::string());
    state.Added("recent", recent);
    state.Added("rhythm", rhythm);
    state("wait_s", wait_s);
    state("wall_s", wall_s);
    state.Added("host_s", host_s);
    state.Added("longest_s", longest_s);
    state("firing_s", firing_s);
    state.Dropped("median", 0.0);
    state("active", active);
    state("first", first);
    state("last", last);
    state("fired", fired);
    state.Added("newest", newest);
    state("fired_step", fired_step);
  }

  std::int64_t Steps() const { return static_cast<std::int64_t>(all.total()); }
  Duration StepTime() const { return Duration(std::llround(wall_s * 1e9)); }
  // The share of the step time that was waited, in percent: one number for sentence, severity and
  // evidence. A median of steps would miss waits that come in bursts.
  double Mean() const { return wall_s > 0 ? wait_s / wall_s * 100 : 0; }
  // The share that the host waited, in percent. A state of an earlier version has no such sum.
  double Host() const { return wall_s > 0 ? std::max(host_s, wait_s) / wall_s * 100 : 0; }
  // The share without the longest wait: one alone is no bottleneck.
  double Repeated() const {
    const double rest_s = wall_s - longest_s;
    return rest_s > 1e-9 ? std::max(0.0, wait_s - longest_s) / rest_s * 100 : 0;
  }
  bool Starts(const Step& step) const { return Steps() == 0 || step.number <= newest; }
};

}  // namespace stepscope
