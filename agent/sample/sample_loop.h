#pragma once

#include <atomic>
#include <functional>

#include "agent/sample/sampler.h"
#include "core/base/clock.h"
#include "core/base/worker.h"

namespace stepscope {

// Samples on the tick grid until it is destroyed, and gives each tick to `take` on its own thread.
// The references outlive it.
class SampleLoop {
 public:
  using Take = std::function<void(Time at, const TickRow& row)>;

  SampleLoop(Sampler& sampler, Take take, Duration interval, const Clock& clock);

 private:
  void Run(std::stop_token stop);

  Sampler& sampler_;
  const Take take_;
  const Duration interval_;
  const Clock& clock_;
  Worker worker_;
};

}  // namespace stepscope
