#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/step.h"

namespace stepscope {

// What made a step longer: a phase, or time outside of all phases.
inline constexpr std::size_t kGrowths = kPhaseCount + 1;

// Slow steps without another step between them.
struct SlowRun {
  // Of `signs`: what the host did in it is still to be told.
  static constexpr unsigned kUntold = 16;

  std::int64_t at = 0;  // position of the first of them among all steps of the rank
  Time from{}, to{};
  std::int64_t excess_ns = 0;  // above as many usual steps
  std::size_t grew = 0;        // a phase, or kPhaseCount for time outside of them
  unsigned signs = 0;          // HostActivity::Sign
};

// Slow runs by position, the newest ones; a rule's state holds them for each rank, so they are
// kept in few bytes: `from` in whole milliseconds, `excess_ns` to a thousandth, and `to` only until
// they are saved.
class SlowRuns {
 public:
  static constexpr std::size_t kMost = 256;

  // It is newer than all before it.
  void Add(SlowRun run);
  const SlowRun& At(std::int64_t at) const;  // one that is there
  SlowRun* Find(std::int64_t at);            // null when it is not
  void Remove(std::int64_t at);              // one that is there
  const std::vector<SlowRun>& all() const { return runs_; }

  std::string Save() const;
  Status Load(std::string_view packed);

 private:
  std::vector<SlowRun> runs_;
};

}  // namespace stepscope
