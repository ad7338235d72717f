#include "core/trace/convert.h"

#include "core/trace/arrange.h"
#include "core/trace/event_stream.h"
#include "core/trace/xplane.h"

namespace stepscope {

Trace ConvertTrace(ReadBytes read, const TraceLimits& limits) {
  Trace trace;
  {
    ByteSource file(std::move(read), limits.bytes);
    XPlaneText planes(file, trace.faults);
    const bool xplane = IsXPlane(file.Peek(kXPlaneHead));
    ByteSource text([&](std::span<char> into) { return planes.Read(into); });
    ByteSource& source = xplane ? text : file;
    SpanBuilder builder(trace, limits);
    EventStream stream(
        source,
        {[&](const TraceEvent& event) { builder.AddEvent(event); },
         [&](std::string_view key, std::string_view raw) { builder.AddMember(key, raw); }},
        trace.faults);
    stream.ReadAll();
    builder.Finish();
    trace.bytes = xplane ? file.taken_bytes() : stream.bytes();
    if (xplane && !file.fault().empty()) ++trace.faults[file.fault()];
  }
  Arrange(trace);
  return trace;
}

}  // namespace stepscope
