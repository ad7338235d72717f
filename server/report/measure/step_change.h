#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stepscope {

// How much longer or shorter the steps of run b are than those of run a.
struct StepChange {
  enum Kind { kNotEnough, kNoDifference, kFaster, kSlower };
  Kind kind = kNotEnough;
  bool material = false;  // from kMaterialPercent on, and beyond the noise of both runs
  // Change of the typical step time in percent of a's, with its 95 % confidence interval; all 0
  // where there is not enough to compare.
  double percent = 0, low = 0, high = 0;
  double noise_percent = 0;  // by how much parts of one run differ from each other
};
std::string_view ToText(StepChange::Kind);

inline constexpr double kWorthPercent = 3;     // a smaller change is no clear difference
inline constexpr double kMaterialPercent = 8;  // a change that matters
inline constexpr std::size_t kStepParts = 10;  // parts of a run that are compared
inline constexpr std::size_t kLeastPoints = 2 * kStepParts;

// Compares step times in seconds, each run's in the order of time: single steps, or means of
// equally many neighbours. Each run is cut into ten parts of equally many points, and their medians
// are compared by Welch's t test on logarithms: parts rather than steps, because neighbouring steps
// are alike, and a test that takes them for independent finds differences in everything. Times that
// are not positive are left out.
StepChange CompareSteps(std::span<const double> a, std::span<const double> b);

// The change as a sentence: "The steps of b take 54 % less time (95 % confidence: 52 to 56 %
// less)."
std::string SentenceOf(const StepChange& change);

}  // namespace stepscope
