#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/descriptor.h"
#include "core/base/event.h"

namespace stepscope::test {

// The longest wait for a program: a test fails then, and shows the program's output.
inline constexpr std::chrono::seconds kLongestWait{120};

// The output of programs to a pipe or a terminal, read until every writer is gone.
class ProcessOutput {
 public:
  ProcessOutput() = default;
  ~ProcessOutput() {
    stop_.Set();
    if (reader_.joinable()) reader_.join();
  }

  void Follow(Descriptor from) {
    reader_ = std::thread([this, from = std::move(from)] { Read(from.get()); });
  }

  std::string Get() const {
    std::lock_guard lock(mutex_);
    return text_;
  }
  // False when all writers are gone before the text came.
  bool WaitFor(std::string_view text) const {
    std::unique_lock lock(mutex_);
    const auto is_there = [&] { return text_.find(text) != text_.npos; };
    if (!Changed(lock, [&] { return ended_ || is_there(); })) {
      ADD_FAILURE() << "waits for '" << text << "', and read:\n" << text_;
    }
    return is_there();
  }
  void WaitForEnd() const {
    std::unique_lock lock(mutex_);
    if (Changed(lock, [&] { return ended_; })) return;
    ADD_FAILURE() << "waits for the end, and read:\n" << text_;
  }

 private:
  template <typename F>
  bool Changed(std::unique_lock<std::mutex>& lock, F holds) const {
    return changed_.wait_for(lock, kLongestWait, holds);
  }

  void Read(int from) {
    char bytes[4096];
    for (;;) {
      pollfd watched[] = {{from, POLLIN, 0}, {stop_.descriptor(), POLLIN, 0}};
      poll(watched, 2, -1);
      if (watched[1].revents != 0) return;
      const ssize_t count = read(from, bytes, sizeof bytes);
      std::lock_guard lock(mutex_);
      if (count > 0) text_.append(bytes, static_cast<std::size_t>(count));
      ended_ = count <= 0;
      changed_.notify_all();
      if (ended_) return;
    }
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::string text_;
  bool ended_ = false;
  const Event stop_;
  std::thread reader_;
};

}  // namespace stepscope::test
