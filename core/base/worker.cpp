#include "core/base/worker.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <utility>

namespace stepscope {

bool SleepFor(std::stop_token stop, Duration duration) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, duration, [] { return false; });
  return !stop.stop_requested();
}

Worker::Worker(std::string name, std::function<void(std::stop_token)> body) {
  // Signals go to the main thread only: blocked before the thread starts, so that it inherits the
  // mask.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::jthread([name = name.substr(0, 15), body = std::move(body)](std::stop_token stop) {
    pthread_setname_np(pthread_self(), name.c_str());
    body(std::move(stop));
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace stepscope
