#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

#include "core/model/step.h"
#include "core/wire/mark.h"

namespace stepscope {

// Steps of one ring that ended and wait for their times by the GPU's clock, which come some steps
// later. In a ring without such times no step waits. Times that come for a step that has gone, or
// for none, are dropped.
class HeldSteps {
 public:
  static constexpr std::size_t kMostSteps = 256;
  // Rounds of reading the ring (IntakeOptions::read_interval) that a step waits at most.
  static constexpr int kMostRounds = 4;

  using Take = std::function<void(const Step& step, std::uint64_t start_ns)>;

  // Bounds the steps that wait, by kMostSteps at most.
  void Limit(std::size_t most) { most_steps_ = std::min(most, kMostSteps); }
  std::size_t size() const { return steps_.size(); }

  // All three hand over the steps that wait no longer, in their order.
  void Add(const Step& step, std::uint64_t start_ns, const Take& take);
  void EndRound(const Take& take);
  void ReleaseAll(const Take& take);

  void AddGpuTime(const Mark& mark);

 private:
  struct Held {
    Step step;
    std::uint64_t start_ns;
    int rounds = 0;
  };
  Held* Find(std::uint64_t number);
  void Release(const Take& take);

  std::deque<Held> steps_;
  std::size_t most_steps_ = kMostSteps;
  bool gpu_ = false;          // the ring has times by the GPU's clock
  std::size_t complete_ = 0;  // so many of the first steps have all their times
};

}  // namespace stepscope
