#pragma once

#include "core/base/time.h"

namespace stepscope {

// Waits for `events` (of poll) of a socket; false when the deadline has passed, or `cut` (-1: none)
// is readable.
bool AwaitSocket(int descriptor, short events, SteadyTime deadline, int cut);

}  // namespace stepscope
