#pragma once

#include <array>
#include <cstddef>

#include "core/base/time.h"

namespace stepscope {

// Durations of the last minute. For one thread.
class RecentTimes {
 public:
  void Add(SteadyTime ended, Duration took);

  // 95 of 100 took at most this. The slowest alone says nothing: it may be the only one for long,
  // and a service that refuses others because of it would never see that it is over.
  Duration P95(SteadyTime now) const;

 private:
  struct Entry {
    SteadyTime ended{};
    Duration took{};
  };
  std::array<Entry, 128> entries_{};
  std::size_t count_ = 0;
};

}  // namespace stepscope
