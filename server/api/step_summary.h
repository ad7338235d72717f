#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/json.h"
#include "server/store/series.h"

namespace stepscope {

// The steps of one rank condensed to what a page shows: percentiles, a histogram, the sums of the
// phases, and a curve of at most 500 points. Steps are added in the order of time.
class StepSummary {
 public:
  void Add(const Step& step);

  // Counts, percentiles, histogram with so many bins, phases and curve, as members of `json`.
  void Put(OrderedJson& json, std::size_t bins) const;

 private:
  // The mean of some steps that follow each other.
  struct Point {
    std::int64_t step = 0, start_us = 0, count = 0, wall_ns = 0, data_ns = 0;
  };
  void AddToCurve(const Step& step);
  void HalveCurve();
  OrderedJson Phases(double all_ns) const;
  OrderedJson Curve() const;

  std::vector<std::int64_t> walls_ns_;
  std::array<std::int64_t, kPhaseCount> phases_ns_{};
  std::int64_t first_ = 0, last_ = 0;
  std::vector<Point> curve_;
  std::int64_t steps_per_point_ = 1;  // doubles whenever the curve is full
};

}  // namespace stepscope
