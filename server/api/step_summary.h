#pragma once

#include <array>
#include <cstdint>

#include "core/base/json.h"
#include "server/api/step_curve.h"
#include "server/api/step_walls.h"
#include "server/store/step_pieces.h"

namespace stepscope {

// The steps of one rank condensed to what a page shows: percentiles, a histogram, the sums of the
// phases, and a curve. They are added in the order of time, read or as summaries of blocks.
class StepSummary {
 public:
  void Add(const Step& step);
  void Add(const BlockSummary& block);

  // Counts, percentiles, histogram with so many bins, phases and curve, as members of `json`, when
  // all steps are in.
  void Put(OrderedJson& json, std::size_t bins);

 private:
  OrderedJson Phases() const;

  StepWalls walls_;
  std::array<std::int64_t, kPhaseCount> phases_ns_{};
  std::int64_t first_ = 0, last_ = 0;
  StepCurve curve_;
};

}  // namespace stepscope
