#include "core/trace/convert.h"

#include "core/trace/arrange.h"
#include "core/trace/event_stream.h"

namespace stepscope {

Trace ConvertTrace(ReadBytes read, const TraceLimits& limits) {
  Trace trace;
  {
    ByteSource source(std::move(read));
    SpanBuilder builder(trace, limits);
    EventStream stream(
        source,
        {[&](const TraceEvent& event) { builder.AddEvent(event); },
         [&](std::string_view key, std::string_view raw) { builder.AddMember(key, raw); }},
        trace.faults);
    stream.ReadAll();
    builder.NameTracks();
    trace.bytes = stream.bytes();
  }
  Arrange(trace);
  return trace;
}

}  // namespace stepscope
