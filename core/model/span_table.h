#pragma once

#include <string_view>

namespace stepscope {

// The columns of a table of spans of one rank and one window: a row for each time that an
// annotation ended in one of the window's steps.
enum class SpanColumn { kWindow, kName, kProcess, kThread, kStep, kStartNs, kDurationNs };
inline constexpr std::string_view kSpanColumns[] = {
    "window",       // the window's number in the job
    "name",         // index into the schema's names
    "process",      // the process's number on the node
    "thread",       // a thread of the process, numbered from 0 by its first mark
    "step",         // the step in whose time the span ended
    "start_ns",     // since the epoch
    "duration_ns",  // rounded down to microseconds from 4.29 s on
};

}  // namespace stepscope
