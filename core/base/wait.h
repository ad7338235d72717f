#pragma once

#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// Two limits of every wait: a deadline of the steady clock, and a descriptor that becomes readable
// when all is to stop.
struct WaitLimit {
  SteadyTime deadline;
  int stop_event = -1;
};

// Waits until the descriptor has one of the poll events; returns which. Unavailable at the deadline
// ("not done within its time") and at the stop ("stopped"); events after the deadline do not count,
// or a peer that never stops sending would keep us for ever.
Result<short> WaitFor(int descriptor, short events, const WaitLimit& limit);

}  // namespace stepscope
