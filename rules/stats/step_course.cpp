#include "rules/stats/step_course.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "rules/engine/packing.h"
#include "rules/stats/line.h"

namespace stepscope {
namespace {

constexpr double kRising = 0.85;    // part of all pairs of windows that rise
constexpr double kEachHalf = 0.15;  // part of the growth that is in each half of the stretch
constexpr double kUsual = 0.9;      // part of the earlier windows that are below the newest ones
constexpr std::int64_t kMostWidth = std::int64_t{1} << 40;

using Points = std::vector<std::pair<double, double>>;

double RiseOf(std::span<const std::pair<double, double>> points) {
  const Line line = LineThrough(points);
  return line.end - line.start;
}

// A level that is left once rises in neither half.
bool RisesThroughout(const Points& points, double rise) {
  const std::span<const std::pair<double, double>> all(points);
  const std::size_t half = points.size() / 2;
  return RiseOf(all.first(half)) >= kEachHalf * rise &&
         RiseOf(all.subspan(half)) >= kEachHalf * rise;
}

// Whether most windows before the stretch were shorter than its end, which is not so for a saw.
bool IsBeyond(std::span<const double> before, double end_s, double least) {
  if (before.empty()) return true;
  std::vector<double> sorted(before.begin(), before.end());
  const auto place = static_cast<std::size_t>(kUsual * static_cast<double>(sorted.size() - 1));
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(place));
  return end_s >= sorted[place] * (1 + least / 2);
}

Growth GrowthFrom(std::span<const double> means, std::size_t first, std::int64_t width,
                  double least) {
  Points points;
  double sum_s = 0;
  for (std::size_t i = first; i < means.size(); ++i) {
    points.emplace_back(static_cast<double>(i), means[i]);
    sum_s += means[i];
  }
  const Line line = LineThrough(points);
  const auto steps = static_cast<double>(width);
  Growth growth{first, line.start, line.end, line.slope / steps};
  growth.lost_s = std::max(0.0, sum_s - line.start * static_cast<double>(points.size())) * steps;
  const double rise = line.end - line.start;
  growth.grows = line.start > 0 && rise >= least * line.start && rise > 0 &&
                 line.rising >= kRising && RisesThroughout(points, rise) &&
                 IsBeyond(means.first(first), line.end, least);
  return growth;
}

}  // namespace

bool StepCourse::Add(const Step& step) {
  if (open_steps_ == 0) open_ = {step.start, step.number, 0};
  open_.sum_s += std::max(0.0, ToSeconds(step.wall));
  if (++open_steps_ < width_) return false;
  windows_.push_back(open_);
  open_steps_ = 0;
  if (windows_.size() >= kMost && width_ < kMostWidth) Halve();
  return true;
}

void StepCourse::Halve() {
  for (std::size_t i = 0; i + 1 < windows_.size(); i += 2) {
    Window joined = windows_[i];
    joined.sum_s += windows_[i + 1].sum_s;
    windows_[i / 2] = joined;
  }
  windows_.resize(windows_.size() / 2);
  width_ *= 2;
}

std::string StepCourse::Save() const {
  std::vector<std::uint64_t> numbers = {static_cast<std::uint64_t>(width_),
                                        static_cast<std::uint64_t>(open_steps_)};
  const auto add = [&numbers](const Window& window) {
    numbers.push_back(static_cast<std::uint64_t>(window.from.time_since_epoch().count()));
    numbers.push_back(static_cast<std::uint64_t>(window.number));
    numbers.push_back(std::bit_cast<std::uint64_t>(window.sum_s));
  };
  add(open_);
  std::ranges::for_each(windows_, add);
  return PackNumbers(numbers);
}

Status StepCourse::Load(std::string_view packed) {
  constexpr std::size_t kNumbers = 3;
  const auto numbers = UnpackNumbers(packed, 2 + kNumbers * (kMost + 1));
  if (!numbers.ok()) return numbers.error();
  if (numbers->size() < 2 + kNumbers || (numbers->size() - 2) % kNumbers != 0) {
    return Invalid("state: the course of step times is cut");
  }
  width_ = static_cast<std::int64_t>((*numbers)[0]);
  open_steps_ = static_cast<std::int64_t>((*numbers)[1]);
  bool sound = width_ > 0 && width_ <= kMostWidth && open_steps_ >= 0 && open_steps_ < width_;
  windows_.clear();
  for (std::size_t i = 2; i < numbers->size(); i += kNumbers) {
    Window window{Time(Duration(static_cast<std::int64_t>((*numbers)[i]))),
                  static_cast<std::int64_t>((*numbers)[i + 1]),
                  std::bit_cast<double>((*numbers)[i + 2])};
    sound = sound && std::isfinite(window.sum_s) && window.sum_s >= 0;
    if (i == 2) open_ = window;
    if (i > 2) windows_.push_back(window);
  }
  return sound ? Status() : Invalid("state: the course of step times is out of range");
}

Growth GrowthOf(const StepCourse& course, double least) {
  std::vector<double> means;
  for (const StepCourse::Window& window : course.windows()) means.push_back(course.MeanOf(window));
  const Growth whole = GrowthFrom(means, 0, course.width(), least);
  if (whole.grows) return whole;
  for (const std::size_t part : {means.size() / 2, means.size() / 4}) {
    if (part < kLeastWindows) break;
    const Growth growth = GrowthFrom(means, means.size() - part, course.width(), least);
    if (growth.grows) return growth;
  }
  return whole;
}

}  // namespace stepscope
