#pragma once

#include "core/base/guarded.h"

namespace stepscope {

// The state of the queue that the writer waits for. It is apart from the queue, because each change
// wakes the writer: most pushes join a group that it waits for already. Set with the queue's lock
// held, so that no change is missed.
class GroupSignal {
 public:
  void Set(bool some, bool full) {
    const State is{some, full};
    if (state_.Read([&](const State& was) { return was == is; })) return;
    state_.Change([&](State& kept) { kept = is; });
  }
  // Each of these says whether it is so, after the wait.
  bool WaitForSome(const std::stop_token& stop, Duration at_most) const {
    return state_.Wait(stop, at_most, [](const State& now) { return now.some; });
  }
  bool WaitUntilFull(const std::stop_token& stop, Duration at_most) const {
    return state_.Wait(stop, at_most, [](const State& now) { return now.full; });
  }
  bool some() const {
    return state_.Read([](const State& now) { return now.some; });
  }

 private:
  struct State {
    bool some = false, full = false;  // some: pushes wait; full: enough for a group
    bool operator==(const State&) const = default;
  };
  Guarded<State> state_;
};

}  // namespace stepscope
