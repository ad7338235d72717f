#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "core/base/json.h"
#include "core/trace/trace.h"

namespace stepscope {

// Spans as a Chrome trace, which Perfetto and chrome://tracing open, and which can be imported
// again. `tracks` is the answer of that name; times count from the begin of the trace.
std::string ChromeTrace(std::span<const TraceSpan> spans,
                        const std::map<std::uint32_t, std::string>& names, const Json& tracks,
                        int rank);

}  // namespace stepscope
