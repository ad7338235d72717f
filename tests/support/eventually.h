#pragma once

#include <poll.h>

#include <chrono>

namespace stepscope {

// Waits for the effect of another thread; returns whether it came in time. A machine that is busy,
// or a sanitizer, may make it wait.
template <typename F>
bool Eventually(F&& holds, std::chrono::seconds at_most = std::chrono::seconds(30)) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

}  // namespace stepscope
