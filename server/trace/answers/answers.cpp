#include "server/trace/answers/answers.h"

#include <algorithm>

#include "core/base/json_members.h"
#include "server/trace/breakdown.h"
#include "server/trace/calls.h"
#include "server/trace/collective_events.h"
#include "server/trace/communication.h"
#include "server/trace/copies.h"
#include "server/trace/kernels.h"
#include "server/trace/launches.h"
#include "server/trace/memory.h"
#include "server/trace/operators.h"
#include "server/trace/pixels.h"
#include "server/trace/precision.h"
#include "server/trace/replay/what_if.h"
#include "server/trace/step_table.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostTracks = 16'384, kMostSteps = 10'000;  // in one answer

OrderedJson TrackJson(const TraceTrack& track, std::size_t id) {
  return {{"track", id},
          {"process", track.process},
          {"process_name", NullIfEmpty(track.process_name)},
          {"thread", track.thread},
          {"thread_name", NullIfEmpty(track.thread_name)},
          {"device", track.on_device ? OrderedJson(track.device) : OrderedJson()},
          {"stream", track.on_device ? OrderedJson(track.stream) : OrderedJson()},
          {"spans", track.spans}};
}

std::string_view MarkersOf(const Trace& trace) {
  switch (trace.step_markers) {
    case StepMarkers::kProfiler:
      return "profiler";
    case StepMarkers::kOptimizer:
      return "optimizer";
    case StepMarkers::kNone:
      break;
  }
  return "";
}

OrderedJson TracksOf(const TraceLinks& links) {
  const Trace& trace = links.trace();
  OrderedJson tracks = OrderedJson::array(), steps = OrderedJson::array();
  for (std::size_t i = 0; i < std::min(trace.tracks.size(), kMostTracks); ++i) {
    tracks.push_back(TrackJson(trace.tracks[i], i));
  }
  for (std::size_t i = 0; i < std::min(trace.steps.size(), kMostSteps); ++i) {
    steps.push_back({{"step", trace.steps[i].number},
                     {"start_ns", trace.steps[i].start_ns},
                     {"end_ns", trace.steps[i].end_ns}});
  }
  return {{"steps", std::move(steps)}, {"tracks", std::move(tracks)}};
}

bool HasDeviceWork(const Trace& trace) {
  return std::ranges::any_of(trace.spans,
                             [](const TraceSpan& span) { return IsDeviceWork(span.kind); });
}

}  // namespace

const std::vector<AnswerRow>& TraceAnswers() {
  static const std::vector<AnswerRow> answers = {
      {"breakdown", "",
       [](const TraceLinks& links) {
         return ToJson(MakeBreakdown(links), LacksDeviceWork(links) ? kDeviceWorkLacks : "");
       }},
      {"kernels", "kernels",
       [](const TraceLinks& links) { return ToJson(MakeKernelTable(links)); }},
      {"operators", "operators",
       [](const TraceLinks& links) { return ToJson(MakeOperatorTable(links, false)); }},
      {"operators_by_shape", "operators",
       [](const TraceLinks& links) { return ToJson(MakeOperatorTable(links, true)); }},
      {"launches", "", [](const TraceLinks& links) { return ToJson(MakeLaunchTable(links)); }},
      {"copies", "", [](const TraceLinks& links) { return ToJson(MakeCopyTable(links)); }},
      {"communication", "",
       [](const TraceLinks& links) { return ToJson(MakeCollectiveTable(links)); }},
      {"memory_use", "", [](const TraceLinks& links) { return ToJson(MakeMemory(links)); }},
      {"precision", "", [](const TraceLinks& links) { return ToJson(MakePrecisionTable(links)); }},
      {"calls", "", [](const TraceLinks& links) { return ToJson(MakeCallTree(links)); }},
      {"what_if", "", [](const TraceLinks& links) { return ToJson(MakeWhatIf(links)); }},
      {"tracks", "tracks", TracksOf},
      {"step_table", "", [](const TraceLinks& links) { return ToJson(MakeStepTable(links)); }},
      {"collective_events", "",
       [](const TraceLinks& links) { return ToJson(MakeCollectiveEvents(links)); }},
  };
  return answers;
}

std::vector<TracePart> TakeApart(const Trace& trace) {
  std::vector<TracePart> parts = EncodeParts(trace);
  for (TracePart& part : EncodeLevels(trace, PlanLevels(trace))) parts.push_back(std::move(part));
  const TraceLinks links(trace);
  for (const AnswerRow& answer : TraceAnswers()) {
    parts.push_back(EncodeText(std::string(answer.name), Dump(answer.make(links))));
  }
  return parts;
}

OrderedJson SummaryOf(const Trace& trace) {
  const LevelPlan plan = PlanLevels(trace);
  OrderedJson faults = OrderedJson::object();
  for (const auto& [reason, count] : trace.faults) faults[reason] = count;
  return {{"base_ns", std::to_string(trace.base_ns)},
          {"on_our_clock", trace.has_base},
          {"world_size", trace.world_size < 0 ? OrderedJson() : OrderedJson(trace.world_size)},
          {"backend", NullIfEmpty(trace.backend)},
          {"host", NullIfEmpty(trace.host)},
          {"trace_id", NullIfEmpty(trace.trace_id)},
          {"device_name", NullIfEmpty(trace.device_name)},
          {"device_work", HasDeviceWork(trace)},
          {"with_shapes", trace.with_shapes},
          {"with_stack", trace.with_stack},
          {"with_memory", !trace.memory.empty()},
          {"bytes", trace.bytes},
          {"events", trace.events},
          {"step_markers", NullIfEmpty(MarkersOf(trace))},
          {"step_count", trace.steps.size()},
          {"track_count", trace.tracks.size()},
          {"level_base", plan.base_log2},
          {"level_count", plan.count},
          {"faults", std::move(faults)}};
}

}  // namespace stepscope
