#pragma once

#include <signal.h>

#include <functional>
#include <stop_token>

#include "core/base/time.h"

namespace stepscope {

// The signals that mean something to the service. They are blocked in the thread that makes this
// and in all that it starts, so that the thread that waits for one gets it. A closed pipe never
// ends the program.
class ServiceSignals {
 public:
  ServiceSignals();

  // Waits for SIGINT or SIGTERM, and calls `hangup` for each SIGHUP. False when the stop is asked
  // for first.
  bool WaitForEnd(const std::stop_token& stop, const std::function<void()>& hangup = {}) const;

  // Waits for SIGINT or SIGTERM for a time; a SIGHUP means nothing meanwhile.
  bool EndsWithin(Duration time) const;

 private:
  sigset_t set_;
};

}  // namespace stepscope
