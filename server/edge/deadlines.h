#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/time.h"

namespace stepscope {

// Connections in the order of their deadlines, each at most once. For one thread.
class Deadlines {
 public:
  // Replaces the deadline at `at`; without a time it is removed. The caller keeps `at`.
  void Move(std::uint64_t id, std::optional<SteadyTime>& at, std::optional<SteadyTime> to) {
    if (at == to) return;
    if (at) ordered_.erase({*at, id});
    if (to) ordered_.insert({*to, id});
    at = to;
  }

  // The earliest deadline; none when nobody waits.
  std::optional<std::pair<SteadyTime, std::uint64_t>> First() const {
    if (ordered_.empty()) return std::nullopt;
    return *ordered_.begin();
  }

 private:
  std::set<std::pair<SteadyTime, std::uint64_t>> ordered_;
};

}  // namespace stepscope
