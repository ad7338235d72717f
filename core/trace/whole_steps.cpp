#include "core/trace/whole_steps.h"

#include <algorithm>
#include <vector>

namespace stepscope {

void KeepWholeSteps(std::int64_t first, std::int64_t count, Trace& trace) {
  const auto whole = [&](const TraceStep& step) {
    return step.number >= first && step.number - first < count;
  };
  if (trace.step_markers != StepMarkers::kProfiler) return;
  if (std::ranges::none_of(trace.steps, whole) || std::ranges::all_of(trace.steps, whole)) return;
  std::vector<std::int32_t> places;
  std::vector<TraceStep> kept;
  for (const TraceStep& step : trace.steps) {
    places.push_back(whole(step) ? static_cast<std::int32_t>(kept.size()) : kNoStep);
    if (whole(step)) kept.push_back(step);
  }
  for (TraceSpan& span : trace.spans) {
    if (span.step != kNoStep) span.step = places[static_cast<std::size_t>(span.step)];
  }
  trace.steps = std::move(kept);
}

}  // namespace stepscope
