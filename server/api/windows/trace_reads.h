#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/trace.h"
#include "server/api/http/routes.h"
#include "server/store/traces/traces.h"

namespace stepscope {

// Reads parts of a stored trace for several calls.

// Calls of files beside this one, which WindowAnswerRoutes names.
std::vector<Route> PixelRoutes(const Api& api);
std::vector<Route> SpanRoutes(const Api& api);
std::vector<Route> ComparisonRoutes(const Api& api);

// A trace that a path and a query name, with its job.
struct NamedTrace {
  std::int64_t job_id = 0;
  TraceRow row;
};

// In lower case, as texts are looked for whatever their case.
std::string LowerText(std::string_view text);

// Names by their index in the trace; "" for one that is not there.
using TraceNames = std::map<std::uint32_t, std::string>;
Result<TraceNames> ReadNames(Connection& connection, const NamedTrace& trace,
                             const std::set<std::uint32_t>& wanted);

// Details by their index in the trace.
using TraceDetails = std::map<std::uint32_t, SpanDetail>;
Result<TraceDetails> ReadDetails(Connection& connection, const NamedTrace& trace,
                                 const std::set<std::uint32_t>& wanted);

// The names that hold a text, whatever its case.
Result<std::set<std::uint32_t>> FindNames(Connection& connection, const NamedTrace& trace,
                                          const std::string& text);

// The numbers of all tracks of a trace, or those that a list names; Invalid for what is none.
Result<std::vector<std::int64_t>> ReadTracks(const NamedTrace& trace,
                                             const std::vector<std::string>& words);

}  // namespace stepscope
