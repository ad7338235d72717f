#pragma once

#include <string_view>

namespace stepscope {

// The columns of a table of spans, which is of one rank and of one window: a row for each time that
// an annotation ended in a step of it.
enum class SpanColumn { kWindow, kName, kProcess, kThread, kStep, kStartNs, kDurationNs };
inline constexpr std::string_view kSpanColumns[] = {
    "window",       // its number in the job
    "name",         // index into the schema's names
    "process",      // its number on the node
    "thread",       // of the process, from 0 in the order in which they marked something
    "step",         // in whose time it ended
    "start_ns",     // since the epoch
    "duration_ns",  // rounded down to microseconds from 4.29 s on
};

}  // namespace stepscope
