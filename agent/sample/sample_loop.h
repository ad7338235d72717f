#pragma once

#include <functional>

#include "agent/sample/sampler.h"
#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "core/base/worker.h"

namespace stepscope {

// Samples on the tick grid until it is destroyed, and passes each tick to `take` on its own thread.
// A change of the interval takes effect at once. The references outlive it.
class SampleLoop {
 public:
  using Take = std::function<void(Time at, const TickRow& row)>;

  SampleLoop(Sampler& sampler, Take take, const Guarded<Duration>& interval, const Clock& clock);

 private:
  void Run(std::stop_token stop);
  Duration Interval() const {
    return interval_.Read([](Duration value) { return value; });
  }

  Sampler& sampler_;
  const Take take_;
  const Guarded<Duration>& interval_;
  const Clock& clock_;
  Worker worker_;
};

}  // namespace stepscope
