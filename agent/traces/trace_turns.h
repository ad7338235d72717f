#pragma once

#include <cstdint>
#include <mutex>

#include "agent/marks/user_rate.h"
#include "core/base/guarded.h"

namespace stepscope {

// The turns of all jobs of an agent at packing traces: one is packed at a time, and of a user so
// many bytes at once and so many a minute, since nobody asks before a process passes a file, and a
// script may record as often as it likes. Safe from any thread; jobs that use it do not outlive it.
class TraceTurns {
 public:
  static constexpr double kBytesAtOnce = 4.0 * 1024 * 1024 * 1024;
  static constexpr double kBytesAMinute = 256.0 * 1024 * 1024;

  // Whether the user may have a file of so many bytes packed now.
  bool Take(std::uint32_t user, std::uint64_t bytes, SteadyTime now) {
    return rate_.Change(
        [&](UserRate& rate) { return rate.Take(user, static_cast<double>(bytes), now); });
  }

  // Waits until nobody packs, and packs as long as this is held.
  std::unique_lock<std::mutex> Wait() { return std::unique_lock(packing_); }

 private:
  Guarded<UserRate> rate_{UserRate(kBytesAtOnce, kBytesAMinute / 60)};
  std::mutex packing_;
};

}  // namespace stepscope
