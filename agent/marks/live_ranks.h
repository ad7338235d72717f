#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "agent/marks/intake.h"
#include "core/base/guarded.h"

namespace stepscope {

// How a rank does now: means over the steps that came last.
struct LiveRank {
  std::int32_t rank = 0;
  std::int64_t pid = 0;
  std::int64_t step = -1;  // the newest; -1: none yet
  Time at{};               // when it ended
  Duration wall{};
  std::array<Duration, kPhaseCount> phases{};
};

// The ranks of a job that live, as of the newest drain. Any thread.
class LiveRanks {
 public:
  void Add(const IntakeBatch& batch);
  std::vector<LiveRank> Read() const;

 private:
  Guarded<std::map<std::int32_t, LiveRank>> ranks_;
};

}  // namespace stepscope
