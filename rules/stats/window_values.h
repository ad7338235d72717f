#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// The ways to aggregate the values of a window. kAggregations has their names, in this order.
enum class Aggregation { kMean, kMin, kMax, kP5, kP50, kP95 };
inline constexpr std::string_view kAggregations[] = {"mean", "min", "max", "p5", "p50", "p95"};

// The values of one window. Means and extremes keep no values; percentiles keep at most kMost of
// them, evenly chosen where the window has more.
class WindowValues {
 public:
  static constexpr std::int64_t kMost = 2'000;

  // `window` is the expected number of values.
  void Add(double value, Aggregation aggregation, std::int64_t window);
  // The aggregate of at least one value; percentiles by nearest rank.
  double Of(Aggregation aggregation) const;

  template <typename State>
  void Fields(State& state) {
    state("count", count_);
    state("sum", sum_);
    state("least", least_);
    state("most", most_);
    state("kept", kept_);
  }

 private:
  struct Kept {
    std::vector<double> values;

    std::string Save() const;
    Status Load(std::string_view packed);
  };

  std::int64_t count_ = 0;
  double sum_ = 0, least_ = 0, most_ = 0;
  Kept kept_;
};

}  // namespace stepscope
