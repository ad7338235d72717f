#include "rules/trend.h"

#include <algorithm>

#include "rules/packing.h"
#include "rules/statistics.h"

namespace stepscope {

void Trend::Add(Time at, std::uint32_t bin) {
  if (!first_) first_ = at;
  const auto place = [&] {
    return static_cast<std::size_t>((at - *first_) / (Duration(1min) * minutes_));
  };
  while (place() >= kMostPoints) Halve();
  if (place() >= points_.sums.size()) {
    points_.sums.resize(place() + 1);
    points_.counts.resize(place() + 1);
    ++seen_;
  }
  points_.sums.back() += bin;
  ++points_.counts.back();
  last_ = at;
}

void Trend::Halve() {
  for (auto* numbers : {&points_.sums, &points_.counts}) {
    for (std::size_t i = 0; i < numbers->size(); i += 2) {
      const std::uint64_t next = i + 1 < numbers->size() ? (*numbers)[i + 1] : 0;
      (*numbers)[i / 2] = (*numbers)[i] + next;
    }
    numbers->resize((numbers->size() + 1) / 2);
  }
  minutes_ *= 2;
}

std::size_t Trend::FitFrom() const {
  const std::size_t complete = points_.sums.size() - std::min<std::size_t>(points_.sums.size(), 1);
  return complete - std::min(complete, kFitted);
}

Duration Trend::FittedLength() const {
  if (points_.sums.empty()) return {};
  return Duration(1min) * minutes_ * static_cast<std::int64_t>(points_.sums.size() - 1 - FitFrom());
}

std::optional<Line> Trend::Fit() const {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = FitFrom(); i + 1 < points_.sums.size(); ++i) {
    if (points_.counts[i] == 0) continue;
    const double hours = static_cast<double>(i - FitFrom()) * static_cast<double>(minutes_) / 60;
    const double mean =
        static_cast<double>(points_.sums[i]) / static_cast<double>(points_.counts[i]) / 100;
    points.emplace_back(hours, mean);
  }
  if (points.size() < 3) return {};
  return LineThrough(points);
}

std::string Trend::Points::Save() const {
  std::vector<std::uint64_t> numbers = sums;
  numbers.insert(numbers.end(), counts.begin(), counts.end());
  return PackNumbers(numbers);
}

Status Trend::Points::Load(const Json& packed) {
  const auto numbers = UnpackNumbers(packed, 2 * kMostPoints);
  if (!numbers.ok()) return numbers.error();
  if (numbers->size() % 2 != 0) return Invalid("state: a trend has a sum without a count");
  const auto middle = numbers->begin() + std::ssize(*numbers) / 2;
  sums.assign(numbers->begin(), middle);
  counts.assign(middle, numbers->end());
  return {};
}

}  // namespace stepscope
