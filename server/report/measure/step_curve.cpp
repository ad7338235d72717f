#include "server/report/measure/step_curve.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostPoints = 500;

}  // namespace

void StepCurve::Add(const StepPoint& point) {
  while (steps_per_point_ < point.count) Halve();
  if (!points_.empty() && points_.back().count + point.count <= steps_per_point_) {
    return points_.back().Add(point);
  }
  if (points_.size() == kMostPoints) Halve();
  points_.push_back(point);
}

void StepCurve::Halve() {
  for (std::size_t at = 0; at < points_.size(); at += 2) {
    StepPoint joined = points_[at];
    if (at + 1 < points_.size()) joined.Add(points_[at + 1]);
    points_[at / 2] = joined;
  }
  points_.resize((points_.size() + 1) / 2);
  steps_per_point_ *= 2;
}

}  // namespace stepscope
