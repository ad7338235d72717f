#pragma once

#include <cstdint>
#include <optional>

#include "rules/engine/state.h"
#include "rules/signals/step_times.h"

namespace stepscope {

// The seconds of a minute in which a job was alive: a step ended, or a rank evaluated. Pauses that
// lie within the minute are known to a second.
struct AliveMinute {
  std::optional<Time> first, last;  // ends of the first and the newest step of any rank
  StepTimes times;
  std::uint64_t alive = 0;  // a bit for each second

  template <typename State>
  void Fields(State& state) {
    state("first", first);
    state("last", last);
    state.Added("alive", alive);
    state("times", times);
  }

  static std::uint64_t BitOf(Time at) {
    return std::uint64_t{1} << static_cast<unsigned>((ToMicros(at) / 1'000'000 % 60 + 60) % 60);
  }
  void Live(Time at) { alive |= BitOf(at); }
  // A state of an earlier version has no seconds, but the ends of steps.
  std::uint64_t Seconds() const {
    return alive | (first ? BitOf(*first) : 0) | (last ? BitOf(*last) : 0);
  }
};

}  // namespace stepscope
