#pragma once

#include <cstdint>
#include <vector>

#include "server/store/steps/block_summary.h"

namespace stepscope {

// A curve of at most 500 points over steps in the order of time. A point stands for at most
// steps_per_point() steps, which doubles whenever the curve is full.
class StepCurve {
 public:
  void Add(const StepPoint& point);

  std::int64_t steps_per_point() const { return steps_per_point_; }
  const std::vector<StepPoint>& points() const { return points_; }

 private:
  void Halve();

  std::vector<StepPoint> points_;
  std::int64_t steps_per_point_ = 1;
};

}  // namespace stepscope
