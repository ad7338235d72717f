#include "rules/window_values.h"

#include <algorithm>
#include <cmath>

namespace stepscope {
namespace {

// Samples that come faster than they are expected to.
constexpr std::size_t kFull = 4 * WindowValues::kMost;

double NearestRank(std::vector<double> values, double share) {
  const auto rank = std::max(0.0, std::ceil(share * static_cast<double>(values.size())) - 1);
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::ranges::nth_element(values, place);
  return *place;
}

}  // namespace

Status WindowValues::Kept::Load(const Json& json) {
  values.clear();
  const bool numbers = json.is_array() && json.size() <= kFull &&
                       std::ranges::all_of(json, [](const Json& each) { return each.is_number(); });
  if (!numbers) return Invalid("state: the values of a window are wrong");
  values = json.get<std::vector<double>>();
  return {};
}

void WindowValues::Add(double value, Aggregation aggregation, std::int64_t window) {
  least_ = count_ == 0 ? value : std::min(least_, value);
  most_ = count_ == 0 ? value : std::max(most_, value);
  sum_ += value;
  const std::int64_t stride = (window + kMost - 1) / kMost;
  if (aggregation >= Aggregation::kP5 && count_ % stride == 0 && kept_.values.size() < kFull) {
    kept_.values.push_back(value);
  }
  ++count_;
}

double WindowValues::Of(Aggregation aggregation) const {
  switch (aggregation) {
    case Aggregation::kMean:
      return sum_ / static_cast<double>(count_);
    case Aggregation::kMin:
      return least_;
    case Aggregation::kMax:
      return most_;
    case Aggregation::kP5:
      return NearestRank(kept_.values, 0.05);
    case Aggregation::kP50:
      return NearestRank(kept_.values, 0.5);
    case Aggregation::kP95:
      return NearestRank(kept_.values, 0.95);
  }
  return 0;
}

}  // namespace stepscope
