#include "server/store/traces/same_capture.h"

#include <algorithm>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMostApartUs = 600'000'000;  // clocks of nodes, and profilers that wait

constexpr char kCountRank[] = R"(
select count(*)
from traces
where job_id = $1 and window_id = $2 and rank = $3)";
// Windows of imported traces, with what their traces say together.
constexpr char kListImported[] = R"(
select windows.window_id, start_step, num_steps, min(from_us), max(to_us),
    bool_and(summary ->> 'on_our_clock' = 'true'),
    bool_or(summary ->> 'step_markers' = 'profiler'), bool_or(rank = $4)
from windows
join traces on traces.job_id = windows.job_id and traces.window_id = windows.window_id
where windows.job_id = $1 and windows.window_id between $2 and $3 and source = 'trace'
    and asked_by = 'person'
group by windows.window_id, start_step, num_steps
order by windows.window_id
limit 1000)";

struct ImportedWindow {
  std::int64_t window_id = 0, start_step = 0, from_us = 0, to_us = 0;
  bool on_our_clock = false, numbered = false, has_rank = false;
};

Result<std::vector<ImportedWindow>> ListImported(Connection& connection, std::int64_t job_id,
                                                 std::int64_t first, std::int64_t last, int rank) {
  const Result<Rows> rows = connection.Query(kListImported, {job_id, first, last, rank});
  if (!rows) return rows.error();
  std::vector<ImportedWindow> windows;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    windows.push_back({rows->Int(i, 0), rows->Int(i, 1), rows->Int(i, 3), rows->Int(i, 4),
                       rows->Bool(i, 5), rows->Bool(i, 6) && rows->Int(i, 2) > 0,
                       rows->Bool(i, 7)});
  }
  return windows;
}

// How far two stretches of time lie apart; 0 where they overlap.
std::int64_t Apart(const ImportedWindow& window, const TraceRow& trace) {
  return std::max<std::int64_t>({0, trace.from_us - window.to_us, window.from_us - trace.to_us});
}

bool IsSameCapture(const ImportedWindow& window, const TraceRow& trace, const TraceSteps& steps) {
  const bool timed = window.on_our_clock && steps.on_our_clock;
  if (window.numbered && steps.numbered) {
    if (window.start_step != steps.first) return false;
    return !timed || Apart(window, trace) <= kMostApartUs;
  }
  if (timed) return Apart(window, trace) == 0;
  return !window.numbered && !steps.numbered;
}

}  // namespace

Result<std::optional<std::int64_t>> FindSameCapture(Connection& connection, std::int64_t job_id,
                                                    std::int64_t from_window, const TraceRow& trace,
                                                    const TraceSteps& steps) {
  auto windows = ListImported(connection, job_id, from_window, kMostWindows, trace.rank);
  if (!windows) return windows.error();
  std::erase_if(*windows, [&](const ImportedWindow& window) {
    return window.has_rank || !IsSameCapture(window, trace, steps);
  });
  const auto nearest = std::ranges::min_element(*windows, {}, [&](const ImportedWindow& window) {
    return window.on_our_clock && steps.on_our_clock ? Apart(window, trace) : 0;
  });
  if (nearest == windows->end()) return std::optional<std::int64_t>();
  return std::optional(nearest->window_id);
}

Status CheckRankAndSteps(Connection& connection, std::int64_t job_id, std::int64_t window_id,
                         int rank, const TraceSteps& steps) {
  const Result<Rows> same = connection.Query(kCountRank, {job_id, window_id, rank});
  if (!same) return same.error();
  if (same->Int(0, 0) > 0) {
    return Conflict(Format("window {} has a trace of rank {} already", window_id, rank));
  }
  if (!steps.numbered) return {};
  const auto windows = ListImported(connection, job_id, window_id, window_id, 0);
  if (!windows) return windows.error();
  for (const ImportedWindow& window : *windows) {
    if (!window.numbered || window.start_step == steps.first) continue;
    return Conflict(Format("window {} has steps from {} on, and the trace from {} on", window_id,
                           window.start_step, steps.first));
  }
  return {};
}

}  // namespace stepscope
