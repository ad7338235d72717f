#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/collect/collector.h"

namespace stepscope {

using MakeCollector = std::function<Result<std::unique_ptr<Collector>>(TickRow& row)>;

struct BackgroundOptions {
  std::string name;           // of its thread, and in what is said of it
  Duration period{};          // how often it is asked; 0: at each tick
  Duration start = 2s;        // how long it may take to be made before ticks go on without it
  Duration reading = 50ms;    // how long a tick waits for it
  Duration hangs_after = 2s;  // or two periods
};

// A collector whose files may never answer, because a driver stands behind them: it is made, and
// read, on a thread of its own. A tick waits a little for a reading that it asked for, and not at
// all for an earlier one that is still on its way; what comes late is shown by the next tick. One
// that hangs has no samples, which is told as its error and its shortfall; when it answers again it
// is made anew, since what it counted has no time. A thread that hangs is left behind: it owns what
// it touches.
//
// Fails when `make` does in time; with a later failure, which Collect says, it has ended.
Result<std::unique_ptr<Collector>> CollectInBackground(MakeCollector make,
                                                       const BackgroundOptions& options);

}  // namespace stepscope
