#include "server/trace/replay/what_if.h"

#include <algorithm>
#include <unordered_map>

#include "server/trace/breakdown.h"
#include "server/trace/host_waits.h"
#include "server/trace/intervals.h"
#include "server/trace/replay/replay.h"
#include "server/trace/trace_json.h"

namespace stepscope {
namespace {

constexpr double kHalf = 0.5;  // what nobody can do without is asked for at twice the speed

struct ChangeRow {
  std::string_view name;
  double left;
  ReplayChange change;
};
const ChangeRow kChanges[] = {
    {"communication", 0, {.communication = 0}},
    {"copies", 0, {.copies = 0}},
    {"data", 0, {.data = 0}},
    {"synchronization", 0, {.without_syncs = true}},
    {"launches", 0, {.without_launches = true}},
    {"host", kHalf, {.host = kHalf}},
    {"computing", kHalf, {.computing = kHalf}},
};

std::vector<std::uint32_t> LongestKernels(const Trace& trace) {
  std::unordered_map<std::uint32_t, std::int64_t> times;
  for (const TraceSpan& span : trace.spans) {
    if (span.kind == SpanKind::kKernel && span.name != 0) times[span.name] += span.duration_ns;
  }
  std::vector<std::pair<std::int64_t, std::uint32_t>> sorted;
  for (const auto& [name, ns] : times) sorted.emplace_back(-ns, name);
  std::ranges::sort(sorted);
  std::vector<std::uint32_t> names;
  for (const auto& [ns, name] : sorted) {
    if (names.size() < kMostWhatIfKernels) names.push_back(name);
  }
  return names;
}

WhatIfRow RowOf(const Replay& replay, std::string_view name, double left,
                const ReplayChange& change) {
  const auto steps = static_cast<std::int64_t>(replay.steps());
  const std::int64_t seen = replay.Run(change, StreamWaits::kSeen) / steps;
  const std::int64_t expected = replay.Run(change, StreamWaits::kExpected) / steps;
  return {std::string(name), "", left, std::min(seen, expected), std::max(seen, expected)};
}

WhatIf OfDevices(const TraceLinks& links) {
  const Replay replay(links);
  WhatIf what_if{.of_device = true, .steps = replay.steps()};
  if (replay.steps() == 0 || replay.Recorded() == 0) {
    what_if.unknown = "no work of a device lies in a step, or there is more than is replayed";
    return what_if;
  }
  what_if.step_ns = replay.Recorded() / static_cast<std::int64_t>(replay.steps());
  for (const ChangeRow& row : kChanges) {
    what_if.rows.push_back(RowOf(replay, row.name, row.left, row.change));
  }
  for (const std::uint32_t kernel : LongestKernels(links.trace())) {
    WhatIfRow row = RowOf(replay, "kernel", kHalf, {.kernel = kernel, .kernel_left = kHalf});
    row.kernel = links.trace().names[kernel];
    what_if.rows.push_back(std::move(row));
  }
  return what_if;
}

// Operators of threads that have no wait for data: what they do goes on while one waits.
TimeRanges OperatorsBeside(const Trace& trace) {
  std::vector<bool> waits(trace.tracks.size());
  for (const TraceSpan& span : trace.spans) {
    if (WaitsForData(trace, span)) waits[span.track] = true;
  }
  std::vector<TimeRange> beside;
  for (const TraceSpan& span : trace.spans) {
    if (span.kind != SpanKind::kOperator || waits[span.track]) continue;
    beside.push_back({span.start_ns, span.end_ns()});
  }
  return UnionOf(std::move(beside));
}

// A training on a CPU has no streams, and most of what its threads wait for is not recorded.
WhatIf OfHost(const TraceLinks& links) {
  const Trace& trace = links.trace();
  WhatIf what_if{.steps = trace.steps.size()};
  if (LacksDeviceWork(links)) {
    what_if.unknown = kDeviceWorkLacks;
    return what_if;
  }
  std::int64_t wall = 0, communication = 0, data = 0, data_alone = 0;
  const HostWaits waits = FindHostWaits(trace);
  const TimeRanges alone = Difference(waits.data, OperatorsBeside(trace));
  for (const TraceStep& step : trace.steps) {
    const TimeRange range{step.start_ns, step.end_ns};
    wall += range.length_ns();
    data += LengthWithin(waits.data, range);
    data_alone += LengthWithin(alone, range);
  }
  for (const DeviceBreakdown& host : MakeBreakdown(links)) {
    for (const BreakdownRow& step : host.steps) {
      communication += step.parts_ns[static_cast<std::size_t>(TimePart::kCommunication)];
    }
  }
  if (wall <= 0) {
    what_if.unknown = "there are no steps";
    return what_if;
  }
  const auto steps = static_cast<std::int64_t>(what_if.steps);
  what_if.step_ns = wall / steps;
  what_if.rows = {{"communication", "", 0, (wall - communication) / steps, wall / steps},
                  {"data", "", 0, (wall - data) / steps, (wall - data_alone) / steps}};
  return what_if;
}

}  // namespace

WhatIf MakeWhatIf(const TraceLinks& links) {
  return links.devices().empty() ? OfHost(links) : OfDevices(links);
}

OrderedJson ToJson(const WhatIf& what_if) {
  OrderedJson rows = OrderedJson::array();
  for (const WhatIfRow& row : what_if.rows) {
    rows.push_back(
        {{"change", row.change},
         {"kernel", NullIfEmpty(row.kernel)},
         {"left", row.left},
         {"best_step_seconds", SecondsOf(row.best_ns)},
         {"worst_step_seconds", SecondsOf(row.worst_ns)},
         {"best_saved_share", ShareOf(what_if.step_ns - row.best_ns, what_if.step_ns)},
         {"worst_saved_share", ShareOf(what_if.step_ns - row.worst_ns, what_if.step_ns)}});
  }
  return {{"of_device", what_if.of_device},
          {"steps", what_if.steps},
          {"step_seconds", SecondsOf(what_if.step_ns)},
          {"unknown", NullIfEmpty(what_if.unknown)},
          {"changes", std::move(rows)}};
}

}  // namespace stepscope
