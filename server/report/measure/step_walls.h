#pragma once

#include <cstdint>
#include <vector>

#include "server/store/steps/block_summary.h"

namespace stepscope {

// Wall times of steps. Each is kept until a summary of a block is added; from then on they are
// counted by bin, and percentiles have an error of at most kDurationErrorPercent.
class StepWalls {
 public:
  void Add(std::int64_t wall_ns);
  void Add(const BlockSummary& summary);
  void Finish();  // called when all were added, before any figure is read

  bool exact() const { return bins_.empty(); }
  std::int64_t count() const { return count_; }
  double sum_ns() const { return sum_ns_; }
  std::int64_t min_ns() const { return min_ns_; }
  std::int64_t max_ns() const { return max_ns_; }
  // The least wall time that this share of all steps is not above; there must be steps.
  double Percentile(double share) const;
  std::int64_t CountBelow(double ns) const;

 private:
  void Widen(std::int64_t min_ns, std::int64_t max_ns, std::int64_t count);

  std::int64_t count_ = 0, min_ns_ = 0, max_ns_ = 0;
  double sum_ns_ = 0;
  std::vector<std::int64_t> each_;  // sorted by Finish, unless the bins have them
  std::vector<std::int64_t> bins_;  // kDurationBins counts, or none
};

}  // namespace stepscope
