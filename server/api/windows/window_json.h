#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/json.h"
#include "server/front/route.h"
#include "server/store/jobs/windows.h"
#include "server/store/traces/traces.h"

namespace stepscope {

// The state of a window follows from the job and its nodes; `traces` are those of the windows that
// are told, by window and rank.
struct WindowTeller {
  const JobRow& job;
  const std::vector<NodeRow>& nodes;
  std::int64_t now_us;
  std::vector<TraceRow> traces = {};

  OrderedJson operator()(const WindowRow& window) const;
};

OrderedJson ToJson(const TraceRow& trace);

// The window that the path names; NotFound names it.
Result<WindowRow> FindNamedWindow(Connection& connection, std::int64_t job_id,
                                  const PathParameters& path);

}  // namespace stepscope
