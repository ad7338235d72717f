#pragma once

#include <cstdint>
#include <map>

#include "rules/engine/state.h"

namespace stepscope {

// Collects data for each minute of data time until a scan has passed the minute. Ranks and nodes
// come in any order, and steps may run ahead of the ticks; a minute is complete once a scan lies
// behind it.
template <typename Window>
class MinuteBuckets {
 public:
  static constexpr Duration kLength = 60s;
  static constexpr std::size_t kMost = 10'000;  // a week; only wrong clocks are further ahead

  // The bucket of a time; null when too many are open.
  Window* At(Time at) {
    const std::int64_t index = ToMicros(at) / kLengthUs;
    const auto found = open_.find(index);
    if (found != open_.end()) return &found->second;
    return open_.size() == kMost ? nullptr : &open_[index];
  }

  // Calls `see(start, window)` for each bucket that lies before `at`, oldest first, and removes it.
  template <typename See>
  void Close(Time at, See&& see) {
    const std::int64_t end = ToMicros(at) / kLengthUs;
    while (!open_.empty() && open_.begin()->first < end) {
      auto node = open_.extract(open_.begin());
      see(FromMicros(node.key() * kLengthUs), node.mapped());
    }
  }

  const std::map<std::int64_t, Window, std::less<>>& open() const { return open_; }

  template <typename State>
  void Fields(State& state) {
    state("open", open_, [] { return Window(); });
  }

 private:
  static constexpr std::int64_t kLengthUs = kLength / 1us;

  std::map<std::int64_t, Window, std::less<>> open_;
};

}  // namespace stepscope
