#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "rules/stats/statistics.h"

namespace stepscope {

// The means of the last `window` percentages and of the `window` before them. Sums are whole
// numbers, so that they never drift.
class AdjacentWindows {
 public:
  static constexpr std::size_t kMostSamples = 30'000;  // the largest window

  explicit AdjacentWindows(std::size_t window);

  void Add(std::uint32_t bin);
  bool full() const { return ring_.size() == 2 * window_; }
  std::size_t size() const { return ring_.size(); }
  double MeanBefore() const { return Mean(before_); }
  double MeanNow() const { return Mean(now_); }

  std::string Save() const;
  Status Load(std::string_view packed);

 private:
  double Mean(std::uint64_t sum) const {
    return static_cast<double>(sum) / static_cast<double>(window_) / 100;
  }

  std::size_t window_;
  std::vector<std::uint16_t> ring_;  // bins of both windows; grows to 2 x `window_` and no further
  std::size_t next_ = 0;
  std::uint64_t before_ = 0, now_ = 0;  // sums of bins, right when full
};

}  // namespace stepscope
