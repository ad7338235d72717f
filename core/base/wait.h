#pragma once

#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// What every wait watches: an instant of the steady clock, and a descriptor that becomes readable
// when all is to stop.
struct WaitLimit {
  SteadyTime deadline;
  int stop_event = -1;
};

// Waits until the descriptor has one of the poll events; says which came. Unavailable at the
// deadline ("not done within its time") and at the stop ("stopped"). What comes
// later does not count: a peer that always has something to say would never end.
Result<short> WaitFor(int descriptor, short events, const WaitLimit& limit);

}  // namespace stepscope
