#include "server/report/measure/step_change.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/base/text.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

// The 97.5 % quantile of Student's t for 9 to 18 degrees of freedom, which ten parts of two runs
// have by Welch and Satterthwaite.
constexpr std::array<double, 10> kQuantiles = {2.262, 2.228, 2.201, 2.179, 2.160,
                                               2.145, 2.131, 2.120, 2.110, 2.101};
constexpr double kLeastFreedom = kStepParts - 1;

double Median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

struct Parts {
  double mean = 0, variance = 0;  // logarithms of the parts' medians
};

// Mean and variance over the ten parts; the last part may be longer.
Parts PartsOf(std::span<const double> seconds) {
  const std::size_t size = seconds.size() / kStepParts;
  std::array<double, kStepParts> logs{};
  for (std::size_t part = 0; part < kStepParts; ++part) {
    const bool last = part + 1 == kStepParts;
    const auto piece = seconds.subspan(part * size, last ? std::dynamic_extent : size);
    std::vector<double> values(piece.begin(), piece.end());
    logs[part] = std::log(Median(values));
  }
  Parts parts;
  for (const double log : logs) parts.mean += log / kStepParts;
  for (const double log : logs) {
    parts.variance += (log - parts.mean) * (log - parts.mean) / kLeastFreedom;
  }
  return parts;
}

// Welch's and Satterthwaite's degrees of freedom for two means of ten parts each.
double Quantile(double variance_a, double variance_b) {
  const double sum = variance_a + variance_b;
  const double squares = variance_a * variance_a + variance_b * variance_b;
  const double freedom = squares == 0 ? 18 : kLeastFreedom * sum * sum / squares;
  const double at = std::clamp(freedom - kLeastFreedom, 0.0, kQuantiles.size() - 1.0);
  return kQuantiles[static_cast<std::size_t>(at)];
}

double Percent(double log) {
  return 100 * (std::exp(log) - 1);
}

std::vector<double> Positive(std::span<const double> seconds) {
  std::vector<double> kept;
  std::ranges::copy_if(seconds, std::back_inserter(kept),
                       [](double each) { return std::isfinite(each) && each > 0; });
  return kept;
}

StepChange::Kind KindOf(const StepChange& change) {
  const bool clear = change.low > 0 || change.high < 0;
  const double least = std::max(kWorthPercent, change.noise_percent);
  if (!clear || std::abs(change.percent) < least) return StepChange::kNoDifference;
  return change.percent < 0 ? StepChange::kFaster : StepChange::kSlower;
}

}  // namespace

std::string_view ToText(StepChange::Kind kind) {
  switch (kind) {
    case StepChange::kNotEnough:
      return "not enough data";
    case StepChange::kNoDifference:
      return "no clear difference";
    case StepChange::kFaster:
      return "faster";
    case StepChange::kSlower:
      return "slower";
  }
  return "";
}

StepChange CompareSteps(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> of_a = Positive(a), of_b = Positive(b);
  if (std::min(of_a.size(), of_b.size()) < kLeastPoints) return {};
  const Parts first = PartsOf(of_a), second = PartsOf(of_b);
  const double difference = second.mean - first.mean;
  const double error = std::sqrt((first.variance + second.variance) / kStepParts);
  const double margin = Quantile(first.variance, second.variance) * error;
  StepChange change;
  change.percent = Percent(difference);
  change.low = Percent(difference - margin);
  change.high = Percent(difference + margin);
  change.noise_percent = Percent(std::sqrt(std::max(first.variance, second.variance)));
  change.kind = KindOf(change);
  change.material = change.kind != StepChange::kNoDifference &&
                    std::abs(change.percent) >= std::max(kMaterialPercent, change.noise_percent);
  return change;
}

std::string SentenceOf(const StepChange& change) {
  if (change.kind == StepChange::kNotEnough) {
    return Format("Not enough data: each run needs {} steps or points of its curve.", kLeastPoints);
  }
  const auto size = [](double percent) { return FormatPercent(std::abs(percent)); };
  if (change.kind == StepChange::kNoDifference) {
    return Format(
        "No clear difference: the steps of b take {} {} time, and parts of one run differ "
        "by {}.",
        size(change.percent), change.percent < 0 ? "less" : "more", size(change.noise_percent));
  }
  const bool faster = change.kind == StepChange::kFaster;
  return Format("The steps of b take {} {} time (95 % confidence: {} to {}).", size(change.percent),
                faster ? "less" : "more", size(faster ? change.high : change.low),
                size(faster ? change.low : change.high));
}

}  // namespace stepscope
