#pragma once

#include <poll.h>

#include <chrono>

namespace stepscope {

// Waits for the effect of another thread; returns whether it came within 10 s.
template <typename F>
bool Eventually(F&& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

}  // namespace stepscope
