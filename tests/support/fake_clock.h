#pragma once

#include <atomic>

#include "core/base/clock.h"

namespace stepscope::test {

// A clock that stops until the test moves it. Any thread may ask.
class FakeClock : public Clock {
 public:
  explicit FakeClock(Time now = FromMicros(1'800'000'000'000'000)) : now_(now.time_since_epoch()) {}

  Time Now() const override { return Time(now_.load()); }
  SteadyTime Steady() const override { return SteadyTime(steady_.load()); }

  void Advance(Duration by) {
    now_ = now_.load() + by;
    steady_ = steady_.load() + by;
  }
  // Sets the wall clock alone, as an operator does.
  void Set(Time now) { now_ = now.time_since_epoch(); }

 private:
  std::atomic<Duration> now_;
  std::atomic<Duration> steady_{1h};
};

}  // namespace stepscope::test
