#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/step.h"

namespace stepscope {

// The course of a rank's step time: the means of windows of equally many steps, one at first. When
// there are too many windows, each two are joined into one that is twice as long. Means, for time
// counts: the median of a window would not see the steps that take most of it.
class StepCourse {
 public:
  static constexpr std::size_t kMost = 96;

  struct Window {
    Time from{};              // start of its first step
    std::int64_t number = 0;  // number of its first step
    double sum_s = 0;
  };

  // Returns whether the step completes a window.
  bool Add(const Step& step);

  std::span<const Window> windows() const { return windows_; }  // the complete ones
  std::int64_t width() const { return width_; }                 // steps of a window
  double MeanOf(const Window& window) const { return window.sum_s / static_cast<double>(width_); }

  std::string Save() const;
  Status Load(std::string_view packed);

 private:
  void Halve();

  std::vector<Window> windows_;
  std::int64_t width_ = 1;
  Window open_;
  std::int64_t open_steps_ = 0;
};

// The growth of a course, where it grows.
struct Growth {
  std::size_t first = 0;          // window from which on the steps grow
  double start_s = 0, end_s = 0;  // the step time at its begin and at its end
  double per_step_s = 0;
  double lost_s = 0;  // step time above that of its begin
  bool grows = false;
};

// Finds the longest stretch up to now in which the steps grow from window to window, by `least` (a
// part of the step time) or more. A level that is left once is no growth, nor is a saw. Without
// growth it tells of the whole course. There must be kLeastWindows.
inline constexpr std::size_t kLeastWindows = 24;
Growth GrowthOf(const StepCourse& course, double least);

}  // namespace stepscope
