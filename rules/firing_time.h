#pragma once

#include <algorithm>
#include <optional>

#include "core/base/time.h"

namespace stepscope {

// The time that a rank was seen, and the part of it in which a rule fired: stretches that are told
// as they grow. Where two of them overlap, that time counts once.
class FiringTime {
 public:
  void Saw(Time from, Time to) {
    first_ = std::min(first_.value_or(Whole(from)), Whole(from));
    last_ = std::max(last_.value_or(Whole(to)), Whole(to));
  }
  void Fired(Time from, Time to) {
    const Time begins = std::max(Whole(from), until_.value_or(Whole(from)));
    if (Whole(to) <= begins) return;
    fired_s_ += ToSeconds(Whole(to) - begins);
    until_ = Whole(to);
  }
  // 0 to 1.
  double Share() const {
    const double all_s = first_ && last_ ? ToSeconds(*last_ - *first_) : 0;
    return std::min(1.0, fired_s_ / std::max(all_s, 1e-6));
  }

  template <typename State>
  void Fields(State& state) {
    state("first", first_);
    state("last", last_);
    state("until", until_);
    state("fired_s", fired_s_);
  }

 private:
  // In microseconds, as it is saved: what was saved in between must not matter.
  static Time Whole(Time at) { return FromMicros(ToMicros(at)); }

  std::optional<Time> first_, last_;
  std::optional<Time> until_;  // end of the newest stretch
  double fired_s_ = 0;
};

}  // namespace stepscope
