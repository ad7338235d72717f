#pragma once

#include <cstdint>
#include <optional>

#include "core/base/time.h"

namespace stepscope {

// A counter of the kernel that only grows until it is reset.
class Counter {
 public:
  // Growth per second since the previous reading; nothing at the first reading, when the counter
  // ran backwards, and when no time passed.
  std::optional<double> Rate(std::uint64_t value, SteadyTime now) {
    const std::uint64_t before = value_;
    const Duration elapsed = now - at_;
    const bool usable = seen_ && value >= before && elapsed > 0ns;
    seen_ = true;
    value_ = value;
    at_ = now;
    if (!usable) return std::nullopt;
    return static_cast<double>(value - before) / ToSeconds(elapsed);
  }

 private:
  bool seen_ = false;
  std::uint64_t value_ = 0;
  SteadyTime at_{};
};

}  // namespace stepscope
