#include "rules/signals/step_pace.h"

#include <algorithm>
#include <cmath>

namespace stepscope {

double ErrorOf(const StepSums& sums, double squares) {
  const auto steps = static_cast<double>(std::max<std::int64_t>(sums.steps(), 1));
  const double mean_s = ToSeconds(sums.MeanWall());
  return std::sqrt(std::max(0.0, squares / steps - mean_s * mean_s) / steps);
}

bool HasOnePace(double mean_s, double other_s, double error_s) {
  constexpr double kSteady = 0.05, kMostUnsteady = 0.15;
  const double least_s = std::min(mean_s, other_s);
  const double allowed_s = std::clamp(2 * error_s, kSteady * least_s, kMostUnsteady * least_s);
  return std::abs(mean_s - other_s) <= allowed_s;
}

double MiddleOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace stepscope
