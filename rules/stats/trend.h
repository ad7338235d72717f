#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"
#include "rules/engine/state.h"
#include "rules/stats/line.h"

namespace stepscope {

// The course of a percentage over a whole job: its means over stretches of equal length, a minute
// at first. When there are too many, each two are joined into one that is twice as long, with the
// mean of both.
class Trend {
 public:
  void Add(Time at, std::uint32_t bin);
  void Clear() { *this = Trend(); }

  // The line through the newest complete stretches, which are half of the job or more. x is in
  // hours since the first of these stretches. None with fewer than three stretches.
  std::optional<Line> Fit() const;
  // The total length of the stretches that Fit uses.
  Duration FittedLength() const;
  // A percentage that few of the stretches before those of Fit exceed; 0 without any.
  double HighBeforeFit() const;
  // The total length of all complete stretches.
  Duration Length() const {
    return Duration(1min) * minutes_ * static_cast<std::int64_t>(means_.of.size());
  }
  // Changes with each completed stretch; the line of Fit changes only then.
  std::int64_t complete() const { return seen_; }
  std::optional<Time> last() const { return last_; }

  template <typename State>
  void Fields(State& state) {
    state("first", first_);
    state("last", last_);
    state("minutes", minutes_);
    state("seen", seen_);
    state("sum", sum_);
    state("count", count_);
    state("means", means_);
  }

 private:
  static constexpr std::size_t kMostPoints = 96, kFitted = 48;

  // Means of the complete stretches, in sixteenths of a bin; kNone in a gap.
  struct Means {
    static constexpr std::int32_t kNone = -1;
    std::vector<std::int32_t> of;

    std::string Save() const;
    Status Load(std::string_view packed);
  };
  void Close();
  void Halve();
  std::size_t FitFrom() const { return means_.of.size() - std::min(means_.of.size(), kFitted); }

  std::optional<Time> first_, last_;   // time of the first and the newest sample
  std::int64_t minutes_ = 1;           // length of a stretch
  std::int64_t seen_ = 0;              // stretches with samples
  std::uint64_t sum_ = 0, count_ = 0;  // sums of the newest stretch, which is not complete
  Means means_;
};

}  // namespace stepscope
