#include "core/trace/arrange.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <tuple>
#include <unordered_map>

#include "core/trace/device_steps.h"

namespace stepscope {
namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep#", kOptimizerStep = "Optimizer.step#";
constexpr std::size_t kMostSteps = 100'000;

bool ComesFirst(const TraceSpan& one, const TraceSpan& other) {
  const auto key = [](const TraceSpan& span) {
    return std::tuple(span.track, span.start_ns, -span.duration_ns, span.kind, span.name,
                      span.correlation, span.external);
  };
  return key(one) < key(other);
}

// Only what carries a number can be told from a second span of the same kind at the same time.
bool IsSame(const TraceSpan& one, const TraceSpan& other) {
  return (one.correlation != 0 || one.external != 0) && one.track == other.track &&
         one.start_ns == other.start_ns && one.duration_ns == other.duration_ns &&
         one.kind == other.kind && one.name == other.name && one.correlation == other.correlation &&
         one.external == other.external;
}

// Removes the spans from `end` on, and counts them by the reason.
void Remove(Trace& trace, std::deque<TraceSpan>::iterator end, const char* reason) {
  const auto removed = static_cast<std::uint64_t>(trace.spans.end() - end);
  if (removed == 0) return;
  for (TraceTrack& track : trace.tracks) track.spans = 0;
  trace.spans.erase(end, trace.spans.end());
  for (const TraceSpan& span : trace.spans) ++trace.tracks[span.track].spans;
  trace.faults[reason] += removed;
}

void RemoveDuplicates(Trace& trace) {
  Remove(trace, std::unique(trace.spans.begin(), trace.spans.end(), IsSame), "duplicate");
}

// A record that was never filled in begins at 0, and would be the begin of the window. Where all
// others lie further away than they are long, what is at 0 is no part of them; else it may be the
// first of a file whose times begin there.
void RemoveUnfilled(Trace& trace) {
  constexpr std::int64_t kNearNs = 1'000'000'000;
  std::int64_t first_ns = INT64_MAX, last_ns = 0;
  bool any = false;
  for (const TraceSpan& span : trace.spans) {
    any = any || span.start_ns == 0;
    if (span.start_ns == 0) continue;
    first_ns = std::min(first_ns, span.start_ns);
    last_ns = std::max(last_ns, span.end_ns());
  }
  const auto is_unfilled = [&](std::int64_t begin_ns, std::int64_t end_ns) {
    const bool far = first_ns > std::max(kNearNs, last_ns - first_ns);
    return begin_ns == 0 && far && end_ns < first_ns;
  };
  if (first_ns == INT64_MAX) return;
  const auto events = std::erase_if(trace.memory, [&](const MemoryEvent& event) {
    return is_unfilled(event.at_ns, event.at_ns);
  });
  if (events > 0) trace.faults["bad_memory_event"] += events;
  if (!any) return;
  const auto end = std::remove_if(
      trace.spans.begin(), trace.spans.end(),
      [&](const TraceSpan& span) { return is_unfilled(span.start_ns, span.end_ns()); });
  Remove(trace, end, "no_start");
}

std::vector<TraceStep> FindProfilerSteps(const Trace& trace) {
  std::vector<TraceStep> steps;
  for (const TraceSpan& span : trace.spans) {
    if (span.kind != SpanKind::kAnnotation || steps.size() >= kMostSteps) continue;
    const std::string_view name = trace.NameOf(span);
    if (!name.starts_with(kProfilerStep)) continue;
    const std::string_view digits = name.substr(kProfilerStep.size());
    std::int64_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec != std::errc() || number < 0 || span.duration_ns == 0) continue;
    steps.push_back({number, span.start_ns, span.end_ns()});
  }
  return steps;
}

// From the end of one optimizer step to the end of the next; the first from the first span on.
std::vector<TraceStep> FindOptimizerSteps(const Trace& trace, std::int64_t first_ns) {
  std::vector<TraceStep> steps;
  std::uint16_t track = 0;
  for (const TraceSpan& span : trace.spans) {
    if (span.kind != SpanKind::kAnnotation || steps.size() >= kMostSteps) continue;
    if (!std::string_view(trace.NameOf(span)).starts_with(kOptimizerStep)) continue;
    if (steps.empty()) track = span.track;
    if (span.track != track) continue;  // one thread counts steps
    const std::int64_t begin = steps.empty() ? first_ns : steps.back().end_ns;
    if (span.end_ns() <= begin) continue;
    steps.push_back({static_cast<std::int64_t>(steps.size()), begin, span.end_ns()});
  }
  return steps;
}

std::int64_t FirstOf(const Trace& trace) {
  std::int64_t first = INT64_MAX;
  for (const TraceSpan& span : trace.spans) {
    if (span.kind != SpanKind::kOther) first = std::min(first, span.start_ns);
  }
  return first;
}

void FindSteps(Trace& trace) {
  trace.steps = FindProfilerSteps(trace);
  trace.step_markers = StepMarkers::kProfiler;
  if (trace.steps.empty()) {
    trace.steps = FindOptimizerSteps(trace, FirstOf(trace));
    trace.step_markers = StepMarkers::kOptimizer;
  }
  if (trace.steps.empty()) trace.step_markers = StepMarkers::kNone;
  std::ranges::sort(trace.steps, {}, [](const TraceStep& step) {
    return std::tuple(step.start_ns, -step.end_ns, step.number);
  });
  // A second thread has the same markers, and markers that overlap count time twice.
  std::vector<TraceStep> kept;
  for (const TraceStep& step : trace.steps) {
    if (kept.empty() || step.start_ns >= kept.back().end_ns) kept.push_back(step);
  }
  if (kept.size() < trace.steps.size())
    trace.faults["overlapping_steps"] += trace.steps.size() - kept.size();
  trace.steps = std::move(kept);
}

void AssignSteps(Trace& trace) {
  if (trace.steps.empty()) return;
  // The first launch with a number, and whether launches of several processes have it: then nothing
  // says whose work it is.
  struct Launch {
    std::uint16_t track = 0;
    std::int32_t step = kNoStep;
    bool of_several = false;
  };
  std::unordered_map<std::uint32_t, Launch> launches;
  for (TraceSpan& span : trace.spans) {
    if (trace.tracks[span.track].on_device) continue;
    span.step = StepAt(trace.steps, span.start_ns);
    if (span.kind != SpanKind::kLaunch || span.correlation == 0) continue;
    const auto [known, fresh] = launches.emplace(span.correlation, Launch{span.track, span.step});
    Launch& launch = known->second;
    const bool same = fresh || launch.track == span.track ||
                      trace.tracks[launch.track].process == trace.tracks[span.track].process;
    launch.of_several = launch.of_several || !same;
  }
  const DeviceSteps on_devices(trace);
  for (TraceSpan& span : trace.spans) {
    if (!IsDeviceWork(span.kind)) continue;
    const auto launch = launches.find(span.correlation);
    if (launch == launches.end()) {
      span.step = on_devices.StepOf(span);
    } else if (!launch->second.of_several) {
      span.step = launch->second.step;
    }
  }
}

// Moves the zero of all times to the first of them. Microseconds since 1970 need no base of the
// file; small numbers without one lie on a clock of their own.
void Rebase(Trace& trace) {
  constexpr std::int64_t kYear2001Ns = 1'000'000'000'000'000'000;
  std::int64_t first = trace.memory.empty() ? INT64_MAX : trace.memory.front().at_ns;
  for (const TraceSpan& span : trace.spans) first = std::min(first, span.start_ns);
  if (first == INT64_MAX) return;
  if (!trace.has_base && first >= kYear2001Ns) trace.has_base = true;
  for (TraceSpan& span : trace.spans) span.start_ns -= first;
  for (MemoryEvent& event : trace.memory) event.at_ns -= first;
  for (TraceStep& step : trace.steps) step.start_ns -= first, step.end_ns -= first;
  trace.base_ns = trace.base_ns < INT64_MAX - first ? trace.base_ns + first : first;
}

}  // namespace

void Arrange(Trace& trace) {
  RemoveUnfilled(trace);
  std::ranges::sort(trace.spans, ComesFirst);
  RemoveDuplicates(trace);
  std::ranges::stable_sort(trace.memory, {}, &MemoryEvent::at_ns);
  FindSteps(trace);
  AssignSteps(trace);
  Rebase(trace);
}

}  // namespace stepscope
