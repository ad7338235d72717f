#pragma once

#include "core/base/time.h"

namespace stepscope {

// The only one who knows what time it is. A virtual seam, so that tests decide. Safe from any
// thread.
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
