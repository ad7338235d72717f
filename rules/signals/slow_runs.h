#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/step.h"

namespace stepscope {

// The number of phases that a step can have grown by; the last stands for time outside of all
// phases.
inline constexpr std::size_t kGrowths = kPhaseCount + 1;
// States of version 0.1.0, which knows ten phases, have so many.
inline constexpr std::size_t kGrowthsBefore = 11;

// Slow steps without another step between them.
struct SlowRun {
  // A bit of `signs`: the activity of the host in the run is not known yet.
  static constexpr unsigned kUntold = 16;

  std::int64_t at = 0;  // position of the first slow step among all steps of the rank
  Time from{}, to{};
  std::int64_t excess_ns = 0;  // step time above as many usual steps
  std::size_t grew = 0;        // the phase that grew, or kPhaseCount for time outside of phases
  unsigned signs = 0;          // HostActivity::Sign
};

// Slow runs by position, the newest ones; a rule's state holds them for each rank, so they are
// kept in few bytes: `from` in whole milliseconds, `excess_ns` to a thousandth, and `to` only until
// they are saved.
class SlowRuns {
 public:
  static constexpr std::size_t kMost = 256;

  // Adds a run, which must be newer than all before it.
  void Add(SlowRun run);
  const SlowRun& At(std::int64_t at) const;  // the run must exist
  SlowRun* Find(std::int64_t at);            // null when there is none
  void Remove(std::int64_t at);              // the run must exist
  const std::vector<SlowRun>& all() const { return runs_; }

  std::string Save() const;
  Status Load(std::string_view packed);

 private:
  std::vector<SlowRun> runs_;
};

}  // namespace stepscope
