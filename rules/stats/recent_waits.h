#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

#include "core/base/time.h"
#include "rules/engine/state.h"

namespace stepscope {

// The share of time that the newest steps of a rank waited: at least `least_steps` steps and
// kLength of step time, once there were as many. The window moves by an eighth of itself, so that
// it costs the same for every length.
class RecentWaits {
 public:
  static constexpr Duration kLength = std::chrono::seconds(10);
  // Waits that come in bursts, one for each round of the workers, need a window of several.
  static constexpr std::int64_t kLeastSteps = 64;

  explicit RecentWaits(std::int64_t least_steps = kLeastSteps)
      : steps_(std::max(least_steps, kLeastSteps)) {}

  void Add(double wait_s, double wall_s) {
    Part& part = parts_[newest_];
    ++part.steps;
    part.wait_s += wait_s;
    part.wall_s += wall_s;
    if (part.steps * kParts < steps_ || part.wall_s * kParts < ToSeconds(kLength)) return;
    ++newest_;
    if (std::ssize(parts_) > kParts) parts_.erase(parts_.begin());
  }

  // 0 to 100; 0 without steps.
  double Percent() const {
    double wait_s = 0, wall_s = 0;
    for (const auto& [number, part] : parts_) wait_s += part.wait_s, wall_s += part.wall_s;
    return wall_s > 0 ? wait_s / wall_s * 100 : 0;
  }
  std::int64_t steps() const {
    std::int64_t steps = 0;
    for (const auto& [number, part] : parts_) steps += part.steps;
    return steps;
  }

  template <typename State>
  void Fields(State& state) {
    state("parts", parts_, [] { return Part(); });
    state("newest", newest_);
  }

 private:
  static constexpr std::int64_t kParts = 8;

  struct Part {
    std::int64_t steps = 0;
    double wait_s = 0, wall_s = 0;

    template <typename State>
    void Fields(State& state) {
      state("steps", steps);
      state("wait_s", wait_s);
      state("wall_s", wall_s);
    }
  };

  std::int64_t steps_;
  std::map<std::int64_t, Part, std::less<>> parts_;  // by number; the newest one is open
  std::int64_t newest_ = 0;
};

}  // namespace stepscope
