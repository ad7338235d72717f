#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/collect/collector.h"

namespace stepscope {

using MakeCollector = std::function<Result<std::unique_ptr<Collector>>(TickRow& row)>;

struct BackgroundOptions {
  std::string name;           // name of the thread, and in errors
  Duration period{};          // time between two readings; 0: each tick
  Duration start = 2s;        // how long ticks wait for its start
  Duration reading = 50ms;    // how long a tick waits for it
  Duration hangs_after = 2s;  // or two periods, if that is longer
};

// Reads a source that may hang, because a driver serves its files, on a thread of its own. A tick
// waits a little for a reading that it asked for, and not at all for an earlier one that is still
// in progress; a late reading is shown by the next tick. A source that hangs has no samples, which
// its error and its shortfall report; when it answers again the collector is made anew, since its
// counters have no time. A thread that hangs is left behind: it owns the objects that it uses.
//
// Fails when `make` fails in time; after a later failure, which Collect reports, the collector has
// ended.
Result<std::unique_ptr<Collector>> CollectInBackground(MakeCollector make,
                                                       const BackgroundOptions& options);

}  // namespace stepscope
