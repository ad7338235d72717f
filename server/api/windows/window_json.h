#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/base/json.h"
#include "server/front/route.h"
#include "server/store/jobs/windows.h"
#include "server/store/traces/traces.h"

namespace stepscope {

// The state of a window follows from the job and its nodes; `traces` are the first ones of the
// windows that are told, by window and rank.
struct WindowTeller {
  const JobRow& job;
  const std::vector<NodeRow>& nodes;
  std::int64_t now_us;
  std::vector<TraceRow> traces = {};
  std::map<std::int64_t, std::int64_t> trace_counts = {};  // by window; 0 where it is not here

  OrderedJson operator()(const WindowRow& window) const;
};

// Traces of a window that are told, alone and in a list.
inline constexpr std::int64_t kMostToldTraces = 1'000, kMostListedTraces = 8;
// Reads the traces of the windows for the teller, at most so many of each.
Status AddTraces(Connection& connection, const WindowRange& windows, std::int64_t most,
                 WindowTeller& tell);

OrderedJson ToJson(const TraceRow& trace);

// The window that the path names; NotFound names it.
Result<WindowRow> FindNamedWindow(Connection& connection, std::int64_t job_id,
                                  const PathParameters& path);

}  // namespace stepscope
