#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

#include "core/base/time.h"

namespace stepscope {

// A value that can only be reached with its lock held. Hold it for lines, not for calls that wait.
// Everyone who waits in `Wait` is woken by each `Change`.
template <typename T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  // Calls read(const T&) or change(T&) under the lock and returns what it returns.
  template <typename F>
  auto Read(F&& read) const {
    std::lock_guard lock(mutex_);
    return std::forward<F>(read)(std::as_const(value_));
  }

  template <typename F>
  auto Change(F&& change) {
    // Notifying under the lock costs a little and keeps this destructible right after the last
    // waiter leaves.
    std::lock_guard lock(mutex_);
    struct Notify {
      std::condition_variable_any& changed;
      ~Notify() { changed.notify_all(); }
    } notify{changed_};
    return std::forward<F>(change)(value_);
  }

  // Waits until ready(const T&) holds, a stop is requested, or the time is over; returns whether it
  // holds.
  template <typename F>
  bool Wait(std::stop_token stop, Duration at_most, F&& ready) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, stop, at_most, [&] { return ready(std::as_const(value_)); });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  T value_{};
};

}  // namespace stepscope
