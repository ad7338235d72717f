#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "agent/marks/intake.h"
#include "core/base/guarded.h"

namespace stepscope {

// The present speed of a rank: means over its last steps.
struct LiveRank {
  std::int32_t rank = 0;
  std::int64_t pid = 0;
  std::int64_t step = -1;  // number of the newest step; -1: none yet
  Time at{};               // end of that step
  Duration wall{};
  std::array<Duration, kPhaseCount> phases{};
};

// The connected ranks of a job, as of the newest drain. Any thread.
class LiveRanks {
 public:
  void Add(const IntakeBatch& batch);
  std::vector<LiveRank> Read() const;

 private:
  Guarded<std::map<std::int32_t, LiveRank>> ranks_;
};

}  // namespace stepscope
