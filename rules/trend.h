#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "rules/line.h"
#include "rules/state.h"

namespace stepscope {

// The course of a percentage over a whole job: its means over stretches of equal length, a minute
// at first. When there are too many, two become one that is twice as long.
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
    state("points", points_);
  }

 private:
  static constexpr std::size_t kMostPoints = 96, kFitted = 48;

  // Mean of a stretch: sum of bins and how many; none in a gap.
  struct Points {
    std::vector<std::uint64_t> sums, counts;

    std::string Save() const;
    Status Load(const Json& packed);
  };
  void Halve();
  std::size_t FitFrom() const;

  std::optional<Time> first_, last_;  // sample
  std::int64_t minutes_ = 1;          // of a stretch
  std::int64_t seen_ = 0;
  Points points_;  // the newest one is not complete
};

}  // namespace stepscope
