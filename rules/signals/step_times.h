#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/time.h"
#include "rules/stats/statistics.h"

namespace stepscope {

// The distribution of step times, to 2.2 %; minimum and maximum are exact.
class StepTimes {
 public:
  void Add(Duration wall) {
    least_ = count() == 0 ? wall : std::min(least_, wall);
    most_ = std::max(most_, wall);
    bins_.Add(AmountBin(static_cast<double>(wall.count())));
  }
  void Add(const StepTimes& other);

  std::int64_t count() const { return static_cast<std::int64_t>(bins_.total()); }
  Duration least() const { return least_; }
  Duration most() const { return most_; }
  Duration Percentile(double share) const;
  Duration Median() const { return Percentile(0.50); }

  // {"max": ..., "p99": ..., ..., "min": ...} in seconds.
  Json Seconds() const;

  std::string Save() const;
  Status Load(std::string_view packed);

 private:
  TotalBins bins_{kAmountBins};
  Duration least_{}, most_{};
};

}  // namespace stepscope
