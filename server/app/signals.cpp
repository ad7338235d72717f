#include "server/app/signals.h"

#include <pthread.h>

#include "core/base/clock.h"

namespace stepscope {

ServiceSignals::ServiceSignals() {
  sigemptyset(&set_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, number);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

bool ServiceSignals::WaitForEnd(const std::stop_token& stop,
                                const std::function<void()>& hangup) const {
  const timespec slice{0, 200'000'000};
  while (!stop.stop_requested()) {
    const int number = sigtimedwait(&set_, nullptr, &slice);
    if (number == SIGHUP && hangup) hangup();
    if (number == SIGINT || number == SIGTERM) return true;
  }
  return false;
}

bool ServiceSignals::EndsWithin(Duration time) const {
  const SteadyTime until = SystemClock().Steady() + time;
  for (Duration left = time; left > 0ns; left = until - SystemClock().Steady()) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec wait{seconds.count(), (left - seconds).count()};
    const int number = sigtimedwait(&set_, nullptr, &wait);
    if (number == SIGINT || number == SIGTERM) return true;
  }
  return false;
}

}  // namespace stepscope
