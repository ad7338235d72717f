#pragma once

#include "core/base/clock.h"
#include "server/front/route.h"

namespace stepscope {

// A call whose reply depends only on path, query, Accept and the caller's scopes, and costs so much
// that it pays to compute it once for all who ask. Those that ask the same while it is computed
// wait for it, and hold no connection meanwhile; those that ask within `fresh` get it again, so the
// reply should say its own time. Only replies 200 of at most 1 MiB are shared, 32 at once: anything
// else each caller gets for itself.
Route Shared(Duration fresh, const Clock& clock, Route route);

}  // namespace stepscope
