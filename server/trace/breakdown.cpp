#include "server/trace/breakdown.h"

#include <algorithm>
#include <map>

#include "server/trace/host_waits.h"
#include "server/trace/trace_json.h"

namespace stepscope {
namespace {

TimeRange RangeOf(const TraceSpan& span) {
  return {span.start_ns, span.end_ns()};
}

// The time of each part, as ranges that never overlap.
struct PartRanges {
  std::array<TimeRanges, kTimePartCount> parts;

  TimeRanges& operator[](TimePart part) { return parts[static_cast<std::size_t>(part)]; }

  BreakdownRow Row(std::int64_t step, TimeRange range) const {
    BreakdownRow row{.step = step, .range = range, .parts_ns = {}};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      row.parts_ns[i] = LengthWithin(parts[i], range);
    }
    return row;
  }
};

// Why the device had nothing to do until this work began.
TimePart CauseOfGap(const TraceLinks& links, const HostWaits& waits, TimeRange gap,
                    const TraceSpan& next) {
  if (gap.length_ns() < kShortGapNs) return TimePart::kShortGap;
  const std::uint32_t launch = links.LaunchOf(next);
  if (launch == TraceLinks::kNone) return TimePart::kOtherIdle;
  if (links.trace().spans[launch].start_ns <= gap.begin_ns) return TimePart::kOtherIdle;
  const std::int64_t half = gap.length_ns() / 2;
  if (LengthWithin(waits.data, gap) >= half) return TimePart::kHostData;
  if (LengthWithin(waits.sync, gap) >= half) return TimePart::kHostSync;
  return TimePart::kHostLate;
}

void AddGaps(const TraceLinks& links, const HostWaits& waits,
             const std::vector<std::uint32_t>& work, PartRanges& ranges) {
  const auto& spans = links.trace().spans;
  std::int64_t busy_until = spans[work.front()].start_ns;
  for (const std::uint32_t i : work) {
    const TraceSpan& span = spans[i];
    if (span.start_ns > busy_until) {
      const TimeRange gap{busy_until, span.start_ns};
      ranges[CauseOfGap(links, waits, gap, span)].push_back(gap);
    }
    busy_until = std::max(busy_until, span.end_ns());
  }
}

PartRanges DeviceParts(const TraceLinks& links, const HostWaits& waits,
                       const std::vector<std::uint32_t>& work) {
  std::vector<TimeRange> computing, communication, copies;
  for (const std::uint32_t i : work) {
    const TraceSpan& span = links.trace().spans[i];
    auto& kind = span.kind == SpanKind::kKernel          ? computing
                 : span.kind == SpanKind::kCommunication ? communication
                                                         : copies;
    kind.push_back(RangeOf(span));
  }
  PartRanges ranges;
  const TimeRanges computed = UnionOf(std::move(computing));
  const TimeRanges communicated = UnionOf(std::move(communication));
  ranges[TimePart::kCommunication] = Difference(communicated, computed);
  ranges[TimePart::kCopies] =
      Difference(Difference(UnionOf(std::move(copies)), computed), communicated);
  ranges[TimePart::kComputing] = computed;
  AddGaps(links, waits, work, ranges);
  return ranges;
}

// How early work of a kind tells of a step's begin: batches are copied and weights are gathered
// ahead, beside the computing of the step before.
int Rank(SpanKind kind) {
  return kind == SpanKind::kKernel ? 0 : kind == SpanKind::kCommunication ? 1 : 2;
}

// The bounds of the steps on a device: from the first kernel of each that computes.
std::vector<BreakdownRow> StepRows(const Trace& trace, const std::vector<std::uint32_t>& work,
                                   const PartRanges& ranges) {
  struct Seen {
    std::array<std::int64_t, 3> first_ns{INT64_MAX, INT64_MAX, INT64_MAX};
    std::int64_t last_ns = 0;
    std::int64_t Begin() const {
      return *std::ranges::find_if(first_ns, [](std::int64_t ns) { return ns != INT64_MAX; });
    }
  };
  std::map<std::int32_t, Seen> seen;
  for (const std::uint32_t i : work) {
    const TraceSpan& span = trace.spans[i];
    if (span.step == kNoStep) continue;
    Seen& step = seen[span.step];
    std::int64_t& first_ns = step.first_ns[static_cast<std::size_t>(Rank(span.kind))];
    first_ns = std::min(first_ns, span.start_ns);
    step.last_ns = std::max(step.last_ns, span.end_ns());
  }
  std::vector<BreakdownRow> rows;
  for (auto step = seen.begin(); step != seen.end(); ++step) {
    const auto next = std::next(step);
    // No other step is mixed with the first: it has all that was launched in it.
    const std::int64_t begin =
        step == seen.begin() ? std::ranges::min(step->second.first_ns) : step->second.Begin();
    const std::int64_t end = next == seen.end() ? step->second.last_ns : next->second.Begin();
    if (end <= begin) continue;
    const auto number = trace.steps[static_cast<std::size_t>(step->first)].number;
    rows.push_back(ranges.Row(number, {begin, end}));
  }
  return rows;
}

DeviceBreakdown OfDevice(const TraceLinks& links, const HostWaits& waits,
                         const TraceLinks::DeviceWork& device) {
  const PartRanges ranges = DeviceParts(links, waits, device.spans);
  TimeRange whole{INT64_MAX, 0};
  for (const std::uint32_t i : device.spans) {
    const TraceSpan& span = links.trace().spans[i];
    whole.begin_ns = std::min(whole.begin_ns, span.start_ns);
    whole.end_ns = std::max(whole.end_ns, span.end_ns());
  }
  return {device.device, ranges.Row(-1, whole), StepRows(links.trace(), device.spans, ranges)};
}

// A training on a CPU: operators compute, whichever thread runs them.
DeviceBreakdown OfHost(const Trace& trace, const HostWaits& waits) {
  std::vector<TimeRange> operators;
  TimeRange whole{INT64_MAX, 0};
  for (const TraceSpan& span : trace.spans) {
    if (trace.tracks[span.track].on_device || span.kind == SpanKind::kOther) continue;
    whole.begin_ns = std::min(whole.begin_ns, span.start_ns);
    whole.end_ns = std::max(whole.end_ns, span.end_ns());
    if (span.kind == SpanKind::kOperator) operators.push_back(RangeOf(span));
  }
  PartRanges ranges;
  ranges[TimePart::kHostData] = waits.data;
  ranges[TimePart::kComputing] = Difference(UnionOf(std::move(operators)), waits.data);
  ranges[TimePart::kCommunication] =
      Difference(Difference(waits.communication, ranges[TimePart::kComputing]), waits.data);
  TimeRanges busy;
  for (const TimeRanges& part : ranges.parts) busy.insert(busy.end(), part.begin(), part.end());
  ranges[TimePart::kOtherIdle] = GapsOf(UnionOf(std::move(busy)), whole);

  DeviceBreakdown host{-1, ranges.Row(-1, whole), {}};
  for (const TraceStep& step : trace.steps) {
    host.steps.push_back(ranges.Row(step.number, {step.start_ns, step.end_ns}));
  }
  return host;
}

OrderedJson RowJson(const BreakdownRow& row) {
  OrderedJson json = {{"step", row.step < 0 ? OrderedJson() : OrderedJson(row.step)},
                      {"wall_seconds", SecondsOf(row.range.length_ns())}};
  OrderedJson seconds = OrderedJson::object();
  for (std::size_t i = 0; i < kTimePartCount; ++i) {
    seconds[std::string(kTimeParts[i])] = SecondsOf(row.parts_ns[i]);
  }
  json["seconds"] = std::move(seconds);
  return json;
}

}  // namespace

bool LacksDeviceWork(const TraceLinks& links) {
  const Trace& trace = links.trace();
  return links.devices().empty() && std::ranges::any_of(trace.spans, [&](const TraceSpan& span) {
           return span.kind == SpanKind::kLaunch &&
                  trace.NameOf(span).find("Launch") != std::string::npos;
         });
}

std::vector<DeviceBreakdown> MakeBreakdown(const TraceLinks& links) {
  if (LacksDeviceWork(links)) return {};
  const HostWaits waits = FindHostWaits(links.trace());
  std::vector<DeviceBreakdown> result;
  for (const auto& device : links.devices()) result.push_back(OfDevice(links, waits, device));
  const bool any = std::ranges::any_of(
      links.trace().spans, [](const TraceSpan& span) { return span.kind != SpanKind::kOther; });
  if (result.empty() && any) result.push_back(OfHost(links.trace(), waits));
  return result;
}

OrderedJson ToJson(const std::vector<DeviceBreakdown>& breakdown, std::string_view note) {
  OrderedJson devices = OrderedJson::array();
  for (const DeviceBreakdown& device : breakdown) {
    OrderedJson steps = OrderedJson::array();
    for (const BreakdownRow& row : device.steps) steps.push_back(RowJson(row));
    devices.push_back({{"device", device.device < 0 ? OrderedJson() : OrderedJson(device.device)},
                       {"total", RowJson(device.total)},
                       {"steps", std::move(steps)}});
  }
  return {{"devices", std::move(devices)}, {"note", NullIfEmpty(note)}};
}

}  // namespace stepscope
