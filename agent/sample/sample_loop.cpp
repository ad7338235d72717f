#include "agent/sample/sample_loop.h"

#include <algorithm>
#include <utility>

namespace stepscope {

SampleLoop::SampleLoop(Sampler& sampler, Take take, const Guarded<Duration>& interval,
                       const Clock& clock)
    : sampler_(sampler),
      take_(std::move(take)),
      interval_(interval),
      clock_(clock),
      worker_("sample", [this](std::stop_token stop) { Run(std::move(stop)); }) {}

void SampleLoop::Run(std::stop_token stop) {
  Duration interval = Interval();
  Time due = NextTick(clock_.Now(), interval);
  for (;;) {
    const Time now = clock_.Now();
    // A wait longer than the interval means that the clock was set back.
    const Duration wait = std::min<Duration>(due - now, interval);
    const auto changed = [&](const Duration& value) { return value != interval; };
    const bool fresh = interval_.Wait(stop, std::max<Duration>(wait, 0ns), changed);
    if (stop.stop_requested()) return;
    if (fresh) {
      interval = Interval();
      due = NextTick(clock_.Now(), interval);
      continue;
    }
    const Time woken = clock_.Now();
    const Time after = NextTick(woken, interval);
    const bool early = woken < due && due - woken <= interval;
    if (early) continue;
    // Ticks during a sleep of the machine are not made up for.
    take_(after - interval, sampler_.Sample());
    due = after;
  }
}

}  // namespace stepscope
