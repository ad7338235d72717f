#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "core/base/json.h"
#include "core/trace/trace.h"

namespace stepscope {

// What an export is made of; it refers to all of it.
struct ExportedTrace {
  std::span<const TraceSpan> spans;
  const std::map<std::uint32_t, std::string>& names;   // spans and their details have these
  const std::map<std::uint32_t, SpanDetail>& details;  // spans have these
  const Json& tracks;                                  // the answer of that name
  const Json& summary;                                 // the trace's, as it is stored
  int rank = 0;
};

// Spans as a Chrome trace, which Perfetto and chrome://tracing open, and which becomes the same
// spans when it is imported again: with their arguments, the names of processes and threads, and
// the time since the epoch.
std::string ChromeTrace(const ExportedTrace& exported);

// The arguments of an event, by the names that Kineto has for them; what is not said is absent.
OrderedJson ArgumentsOf(const SpanDetail& detail,
                        const std::map<std::uint32_t, std::string>& names);

// Adds the names that the arguments need.
void AddNamesOf(const SpanDetail& detail, std::set<std::uint32_t>& names);

}  // namespace stepscope
