#pragma once

#include <cstdint>

#include "core/trace/trace.h"

namespace stepscope {

// Leaves the steps [first, first + count) of a trace whose steps are those of the profiler's
// annotations: a recording that ended in the middle of a step has that one, too. Spans of other
// steps stay, and are of no step. Does nothing to a trace that has none of these steps.
void KeepWholeSteps(std::int64_t first, std::int64_t count, Trace& trace);

}  // namespace stepscope
