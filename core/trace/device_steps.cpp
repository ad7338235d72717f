#include "core/trace/device_steps.h"

#include <algorithm>
#include <charconv>

namespace stepscope {
namespace {

bool IsStepLine(const TraceTrack& track) {
  return track.on_device && track.thread_name == "Steps" &&
         track.process_name.starts_with("/device:");
}

// The number in the name of a device's step; -1 where it is none.
std::int64_t NumberIn(std::string_view name) {
  std::int64_t number = -1;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  return read.ec == std::errc() && read.ptr == name.data() + name.size() ? number : -1;
}

}  // namespace

std::int32_t StepAt(const std::vector<TraceStep>& steps, std::int64_t at_ns) {
  const auto next = std::ranges::upper_bound(steps, at_ns, {}, &TraceStep::start_ns);
  if (next == steps.begin() || at_ns >= std::prev(next)->end_ns) return kNoStep;
  return static_cast<std::int32_t>(next - steps.begin() - 1);
}

DeviceSteps::DeviceSteps(const Trace& trace) : trace_(trace) {
  for (const TraceSpan& span : trace.spans) {
    const TraceTrack& track = trace.tracks[span.track];
    if (!IsStepLine(track) || span.duration_ns == 0) continue;
    processes_[track.process].steps.push_back(
        {NumberIn(trace.NameOf(span)), span.start_ns, span.end_ns()});
  }
  for (auto& [process, found] : processes_) Match(found.steps, found.places);
}

// By number where all steps of the device have one that the host has, too. Devices may count from 0
// instead: as many steps as the host has, none before the host began it, are the same ones.
void DeviceSteps::Match(std::vector<TraceStep>& steps, std::vector<std::int32_t>& places) const {
  const std::vector<TraceStep>& all = trace_.steps;
  std::ranges::sort(steps, {}, &TraceStep::start_ns);
  for (const TraceStep& step : steps) {
    const auto same = std::ranges::find(all, step.number, &TraceStep::number);
    places.push_back(same == all.end() ? kNoStep : static_cast<std::int32_t>(same - all.begin()));
  }
  if (std::ranges::find(places, kNoStep) == places.end()) return;
  bool in_order = steps.size() == all.size();
  for (std::size_t i = 0; in_order && i < all.size(); ++i) {
    in_order = steps[i].start_ns >= all[i].start_ns;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = in_order ? static_cast<std::int32_t>(i) : kNoStep;
  }
}

std::int32_t DeviceSteps::StepOf(const TraceSpan& work) const {
  const auto found = processes_.find(trace_.tracks[work.track].process);
  if (found == processes_.end()) return kNoStep;
  const std::int32_t step = StepAt(found->second.steps, work.start_ns);
  return step == kNoStep ? kNoStep : found->second.places[static_cast<std::size_t>(step)];
}

}  // namespace stepscope
