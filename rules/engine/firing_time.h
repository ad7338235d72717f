#pragma once

#include <algorithm>
#include <optional>

#include "core/base/time.h"

namespace stepscope {

// The time that a rank was seen, and the part of it in which a rule fired. Stretches are reported
// as they grow; overlapping time counts once.
class FiringTime {
 public:
  void Saw(Time from, Time to) {
    first_ = std::min(first_.value_or(Whole(from)), Whole(from));
    last_ = std::max(last_.value_or(Whole(to)), Whole(to));
  }
  void Fired(Time from, Time to) {
    const Time begins = Whole(from), ends = Whole(to);
    if (ends <= begins) return;
    if (!until_) since_ = until_ = begins;
    fired_s_ += Between(begins, std::min(ends, *since_)) + Between(std::max(begins, *until_), ends);
    since_ = std::min(*since_, begins);
    until_ = std::max(*until_, ends);
  }
  // The fired part of the seen time, 0 to 1.
  double Share() const {
    const double all_s = first_ && last_ ? ToSeconds(*last_ - *first_) : 0;
    return std::min(1.0, fired_s_ / std::max(all_s, 1e-6));
  }

  template <typename State>
  void Fields(State& state) {
    state("first", first_);
    state("last", last_);
    state("since", since_);
    state("until", until_);
    state("fired_s", fired_s_);
  }

 private:
  // Times in whole microseconds, as they are saved: a save and load in between must not matter.
  static Time Whole(Time at) { return FromMicros(ToMicros(at)); }
  static double Between(Time from, Time to) { return from < to ? ToSeconds(to - from) : 0; }

  std::optional<Time> first_, last_;
  // From the earliest stretch to the end of the newest. A stretch that is reported later for a gap
  // between two others is not counted, for stretches are not kept one by one.
  std::optional<Time> since_, until_;
  double fired_s_ = 0;
};

}  // namespace stepscope
