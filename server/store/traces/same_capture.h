#pragma once

#include "server/store/traces/traces.h"

namespace stepscope {

// Which traces of several ranks are of one capture, where nobody said so: a log folder has the
// files of many captures, and in no order that would tell.

// The window, among those from a number on that were made by imports, that shows what this trace
// does and has no trace of its rank yet; nothing where there is none. Numbers of the profiler's
// steps are the same on all ranks: the first one must be the same, and where both are on a clock
// since the epoch they lie within 10 minutes of each other. Other traces must overlap in time.
// Traces that have neither numbers nor such a clock belong to the first window that lacks the rank.
// In the caller's transaction, with the job locked.
Result<std::optional<std::int64_t>> FindSameCapture(Connection& connection, std::int64_t job_id,
                                                    std::int64_t from_window, const TraceRow& trace,
                                                    const TraceSteps& steps);

// Conflict when a window has a trace of this rank, or traces that were imported and begin with
// another step of the profiler than this one does.
Status CheckRankAndSteps(Connection& connection, std::int64_t job_id, std::int64_t window_id,
                         int rank, const TraceSteps& steps);

}  // namespace stepscope
