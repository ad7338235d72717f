#pragma once

#include <cstdint>
#include <vector>

#include "server/store/steps/block_summary.h"

namespace stepscope {

// Wall times of steps: each of them, until a summary comes in; then how many lie in which bin, and
// percentiles have an error of at most kDurationErrorPercent.
class StepWalls {
 public:
  void Add(std::int64_t wall_ns);
  void Add(const BlockSummary& summary);
  void Finish();  // when all are in, before the rest is asked

  bool exact() const { return bins_.empty(); }
  std::int64_t count() const { return count_; }
  double sum_ns() const { return sum_ns_; }
  std::int64_t min_ns() const { return min_ns_; }
  std::int64_t max_ns() const { return max_ns_; }
  // The least wall time that this share of all is not above; there are some.
  double Percentile(double share) const;
  std::int64_t CountBelow(double ns) const;

 private:
  void Widen(std::int64_t min_ns, std::int64_t max_ns, std::int64_t count);

  std::int64_t count_ = 0, min_ns_ = 0, max_ns_ = 0;
  double sum_ns_ = 0;
  std::vector<std::int64_t> each_;  // sorted by Finish, unless the bins have them
  std::vector<std::int64_t> bins_;  // kDurationBins of them, or none
};

}  // namespace stepscope
