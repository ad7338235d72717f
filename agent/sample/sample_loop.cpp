#include "agent/sample/sample_loop.h"

#include <algorithm>
#include <utility>

namespace stepscope {

SampleLoop::SampleLoop(Sampler& sampler, Take take, Duration interval, const Clock& clock)
    : sampler_(sampler),
      take_(std::move(take)),
      interval_(interval),
      clock_(clock),
      worker_("sample", [this](std::stop_token stop) { Run(std::move(stop)); }) {}

void SampleLoop::Run(std::stop_token stop) {
  Time due = NextTick(clock_.Now(), interval_);
  for (;;) {
    const Time now = clock_.Now();
    // A wait longer than the interval means that the clock was set back.
    const Duration wait = std::min<Duration>(due - now, interval_);
    if (wait > 0ns && !SleepFor(stop, wait)) return;
    if (stop.stop_requested()) return;
    const Time woken = clock_.Now();
    const Time after = NextTick(woken, interval_);
    const bool early = woken < due && due - woken < interval_;
    if (early) continue;
    // Ticks that were slept through are not made up.
    take_(after - interval_, sampler_.Sample());
    due = after;
  }
}

}  // namespace stepscope
