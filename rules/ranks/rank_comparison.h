#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/ranks/rank_work.h"

namespace stepscope {

// A value of a rank's work in which a late rank is above the others, 0 to 1; none where it is not
// known.
using WorkMeasure = std::optional<double> (*)(const WorkSums&);

// Ranks that step together: equally many steps, of equal length. Made for one judgement, of the
// works of all ranks, which outlive it.
class RankComparison {
 public:
  struct Rank {
    int number = 0;
    const RankWork* work = nullptr;
    WorkSums sums;      // over the compared bins
    unsigned role = 0;  // the phases that a stage of a pipeline may lack
  };
  // How far a rank is above the median of the others.
  struct Lateness {
    std::size_t rank = 0;              // index in ranks()
    double lost = 0;                   // part of a step
    std::uint64_t late_us = 0;         // step time of the bins in which it was late
    std::int64_t first = 0, last = 0;  // the first and the last of these bins
  };

  explicit RankComparison(const std::vector<std::pair<int, const RankWork*>>& works);

  const std::vector<Rank>& ranks() const { return ranks_; }
  // The number of a rank that does not step together with most of the others.
  std::optional<int> apart() const { return apart_; }
  // Whether ranks have different phases, as the stages of a pipeline do.
  bool has_roles() const { return has_roles_; }
  // The least step time and the fewest steps of a compared rank.
  Duration StepTime() const;
  std::int64_t Steps() const;

  // The rank that is later than `limit` than the others of its role by this measure, lastingly: not
  // at one time only, and not in turns with others.
  std::optional<Lateness> Latest(WorkMeasure measure, double limit) const;
  // How far the rank is above the median of the others of its role.
  double Above(std::size_t rank, WorkMeasure measure) const;
  // How far the rank was above it in the newest two scans.
  double AboveOfLate(std::size_t rank, WorkMeasure measure) const;
  // The median of the others of the rank's role; none where it is not known of any.
  std::optional<double> MedianOfOthers(std::size_t rank, WorkMeasure measure) const;
  // The sums of the others of the rank's role.
  StepSums Others(std::size_t rank) const;

 private:
  template <typename Sums>
  std::optional<double> MedianOf(std::size_t rank, Sums sums, WorkMeasure measure) const;
  template <typename Sums>
  std::optional<double> AboveIn(std::size_t rank, Sums sums, WorkMeasure measure) const;
  void TellRoles();
  bool Lasts(Lateness& late, WorkMeasure measure, double limit) const;

  std::vector<Rank> ranks_;
  std::set<std::int64_t> bins_;
  std::optional<int> apart_;
  bool has_roles_ = false;
};

}  // namespace stepscope
