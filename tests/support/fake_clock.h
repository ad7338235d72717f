#pragma once

#include <atomic>
#include <cstddef>

#include "core/base/clock.h"

namespace stepscope::test {

// A clock that stops until the test moves it. Any thread may ask.
class FakeClock : public Clock {
 public:
  explicit FakeClock(Time now = FromMicros(1'800'000'000'000'000)) : now_(now.time_since_epoch()) {}

  Time Now() const override {
    ++asked_;
    return Time(now_.load());
  }
  SteadyTime Steady() const override { return SteadyTime(steady_.load()); }

  void Advance(Duration by) {
    now_ = now_.load() + by;
    steady_ = steady_.load() + by;
  }
  // Sets the wall clock alone, as an operator does.
  void Set(Time now) { now_ = now.time_since_epoch(); }
  // How often the wall clock was asked for.
  std::size_t asked() const { return asked_; }

 private:
  std::atomic<Duration> now_;
  std::atomic<Duration> steady_{1h};
  mutable std::atomic<std::size_t> asked_{0};
};

}  // namespace stepscope::test
