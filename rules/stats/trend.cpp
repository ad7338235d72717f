#include "rules/stats/trend.h"

#include <algorithm>
#include <utility>

#include "rules/engine/packing.h"
#include "rules/stats/statistics.h"

namespace stepscope {
namespace {

constexpr std::int32_t kParts = 16;  // fractions of a bin in which means are kept
constexpr std::int32_t kMostMean = static_cast<std::int32_t>(kPercentBins - 1) * kParts;

std::int32_t MeanOf(std::int32_t one, std::int32_t other) {
  if (one < 0 || other < 0) return std::max(one, other);
  return (one + other + 1) / 2;
}

}  // namespace

void Trend::Add(Time at, std::uint32_t bin) {
  if (!first_) first_ = at;
  const auto place = [&] {
    return static_cast<std::size_t>(
        std::max<std::int64_t>(0, (at - *first_) / (Duration(1min) * minutes_)));
  };
  if (count_ > 0 && place() > means_.of.size()) Close();
  while (place() >= kMostPoints) Halve();
  if (place() > means_.of.size()) means_.of.resize(place(), Means::kNone);
  if (count_ == 0) ++seen_;
  sum_ += bin;
  ++count_;
  last_ = at;
}

void Trend::Close() {
  const std::uint64_t sum = std::exchange(sum_, 0), count = std::exchange(count_, 0);
  means_.of.push_back(static_cast<std::int32_t>((sum * kParts + count / 2) / count));
}

void Trend::Halve() {
  auto& of = means_.of;
  for (std::size_t i = 0; i < of.size(); i += 2) {
    of[i / 2] = MeanOf(of[i], i + 1 < of.size() ? of[i + 1] : Means::kNone);
  }
  of.resize((of.size() + 1) / 2);
  minutes_ *= 2;
}

Duration Trend::FittedLength() const {
  return Duration(1min) * minutes_ * static_cast<std::int64_t>(means_.of.size() - FitFrom());
}

double Trend::HighBeforeFit() const {
  constexpr double kFew = 0.15;
  std::vector<std::int32_t> before(means_.of.begin(),
                                   means_.of.begin() + static_cast<std::ptrdiff_t>(FitFrom()));
  std::erase(before, Means::kNone);
  if (before.empty()) return 0;
  const auto place = static_cast<double>(before.size() - 1) * (1 - kFew);
  const auto high = before.begin() + static_cast<std::ptrdiff_t>(place);
  std::ranges::nth_element(before, high);
  return static_cast<double>(*high) / kParts / 100;
}

std::optional<Line> Trend::Fit() const {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = FitFrom(); i < means_.of.size(); ++i) {
    if (means_.of[i] == Means::kNone) continue;
    const double hours = static_cast<double>(i - FitFrom()) * static_cast<double>(minutes_) / 60;
    points.emplace_back(hours, static_cast<double>(means_.of[i]) / kParts / 100);
  }
  if (points.size() < 3) return {};
  return LineThrough(points);
}

// Saves each mean as its distance from the mean before, up and down as even and odd numbers.
std::string Trend::Means::Save() const {
  std::vector<std::uint64_t> numbers;
  std::int32_t before = 0;
  for (const std::int32_t mean : of) {
    const std::int32_t by = mean - std::exchange(before, mean);
    numbers.push_back(static_cast<std::uint64_t>(by < 0 ? -2 * by - 1 : 2 * by));
  }
  return PackNumbers(numbers);
}

Status Trend::Means::Load(std::string_view packed) {
  const auto numbers = UnpackNumbers(packed, kMostPoints);
  if (!numbers.ok()) return numbers.error();
  of.clear();
  std::int64_t mean = 0;
  for (const std::uint64_t number : *numbers) {
    const auto by = static_cast<std::int64_t>(std::min<std::uint64_t>(number >> 1, kMostMean + 1));
    mean += number % 2 == 0 ? by : -by - 1;
    if (mean < kNone || mean > kMostMean) {
      return Invalid("state: the mean of a stretch is out of range");
    }
    of.push_back(static_cast<std::int32_t>(mean));
  }
  return {};
}

}  // namespace stepscope
