#pragma once

#include <semaphore.h>

#include <ctime>

#include "core/base/time.h"

namespace stepscope {

// Wakes the one thread that waits for it; a ring before the wait is not lost. Where a thread is
// woken many times an hour this is cheaper than a Guarded, which wakes it while the lock is still
// held, so that it waits a second time. The reason for the ring belongs into a Guarded.
class WakeEvent {
 public:
  WakeEvent() { sem_init(&rung_, 0, 0); }
  ~WakeEvent() { sem_destroy(&rung_); }
  WakeEvent(const WakeEvent&) = delete;
  WakeEvent& operator=(const WakeEvent&) = delete;

  // Any thread.
  void Ring() { sem_post(&rung_); }

  void Wait() {
    while (sem_wait(&rung_) != 0) {
    }
  }

  // False when the time is over or a signal came.
  bool WaitFor(Duration at_most) {
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    const Duration end = std::chrono::nanoseconds(until.tv_nsec) + at_most;
    until.tv_sec += static_cast<std::time_t>(end / 1s);
    until.tv_nsec = static_cast<long>(end % 1s / 1ns);
    return sem_clockwait(&rung_, CLOCK_MONOTONIC, &until) == 0;
  }

  // Forgets earlier rings.
  void Clear() {
    while (sem_trywait(&rung_) == 0) {
    }
  }

 private:
  sem_t rung_;
};

}  // namespace stepscope
