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
// at first. When there are too many, two become one that is twice as long, whose mean is that of
// theirs.
class Trend {
 public:
  void Add(Time at, std::uint32_t bin);
  void Clear() { *this = Trend(); }

  // Of the newest stretches that are complete: half of the job or more. x is in hours since the
  // first of them. None below three.
  std::optional<Line> Fit() const;
  // How long the stretches of Fit are together.
  Duration FittedLength() const;
  // Changes with each stretch that is complete.
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

  // Of the complete stretches, in sixteenths of a bin; kNone in a gap.
  struct Means {
    static constexpr std::int32_t kNone = -1;
    std::vector<std::int32_t> of;

    std::string Save() const;
    Status Load(std::string_view packed);
  };
  void Close();
  void Halve();
  std::size_t FitFrom() const { return means_.of.size() - std::min(means_.of.size(), kFitted); }

  std::optional<Time> first_, last_;   // sample
  std::int64_t minutes_ = 1;           // of a stretch
  std::int64_t seen_ = 0;              // stretches with samples
  std::uint64_t sum_ = 0, count_ = 0;  // of the newest one, which is not complete
  Means means_;
};

}  // namespace stepscope
