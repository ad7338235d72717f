#pragma once

#include "core/base/time.h"

namespace stepscope {

// Tells the time; nothing else asks the system for it. Virtual, so that tests decide what time it
// is. Safe from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time Now() const = 0;
  virtual SteadyTime Steady() const = 0;
};

class SystemClock : public Clock {
 public:
  Time Now() const override { return std::chrono::system_clock::now(); }
  SteadyTime Steady() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace stepscope
