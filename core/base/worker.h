#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/base/time.h"

namespace stepscope {

// Sleeps until the time is over or a stop is requested; returns whether it slept to the end.
bool SleepFor(std::stop_token stop, Duration duration);

// One named thread with all signals blocked. Its destructor requests a stop and joins it, so its
// owner decides how long it lives. The body returns soon after its token is stopped.
class Worker {
 public:
  Worker() = default;
  Worker(std::string name, std::function<void(std::stop_token)> body);

  Worker(Worker&&) = default;
  Worker& operator=(Worker&&) = default;

  bool started() const { return thread_.joinable(); }
  void RequestStop() { thread_.request_stop(); }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::jthread thread_;
};

}  // namespace stepscope
