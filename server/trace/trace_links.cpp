#include "server/trace/trace_links.h"

#include <algorithm>

namespace stepscope {

TraceLinks::TraceLinks(const Trace& trace) : trace_(trace), parents_(trace.spans.size(), kNone) {
  LinkThreads();
  CollectDevices();
}

// The first span with a number counts, as long as all with it are of one process.
void TraceLinks::Add(ById& known, std::uint32_t id, std::uint32_t span) const {
  if (id == 0) return;
  const auto [first, fresh] = known.emplace(id, span);
  if (fresh || first->second == kNone) return;
  const auto process = [this](std::uint32_t i) -> const std::string& {
    return trace_.tracks[trace_.spans[i].track].process;
  };
  const bool same = trace_.spans[first->second].track == trace_.spans[span].track ||
                    process(first->second) == process(span);
  if (!same) first->second = kNone;
}

// Spans of a track are in the order of their starts, the outer ones first: a stack of the open
// operators has the parent on top.
void TraceLinks::LinkThreads() {
  std::vector<std::uint32_t> open;
  int track = -1;
  for (std::uint32_t i = 0; i < trace_.spans.size(); ++i) {
    const TraceSpan& span = trace_.spans[i];
    const bool launch = span.kind == SpanKind::kLaunch;
    if (span.kind != SpanKind::kOperator && !launch) continue;
    if (span.track != track) open.clear(), track = span.track;
    // An operator that ends first is no parent, even where it overlaps: a profiler's rounding.
    while (!open.empty() && trace_.spans[open.back()].end_ns() <= span.start_ns) open.pop_back();
    if (!open.empty()) parents_[i] = open.back();
    if (launch) {
      Add(launches_, span.correlation, i);
      continue;
    }
    Add(operators_, span.external, i);
    open.push_back(i);
  }
}

void TraceLinks::CollectDevices() {
  std::unordered_map<std::int64_t, std::size_t> known;
  for (std::uint32_t i = 0; i < trace_.spans.size(); ++i) {
    const TraceSpan& span = trace_.spans[i];
    if (!IsDeviceWork(span.kind)) continue;
    const std::int64_t device = trace_.tracks[span.track].device;
    const auto [found, fresh] = known.emplace(device, devices_.size());
    if (fresh) devices_.push_back({device, {}});
    devices_[found->second].spans.push_back(i);
  }
  std::ranges::sort(devices_, {}, &DeviceWork::device);
  for (DeviceWork& device : devices_) {
    std::ranges::stable_sort(device.spans, {},
                             [this](std::uint32_t i) { return trace_.spans[i].start_ns; });
  }
}

std::uint32_t TraceLinks::LaunchOf(const TraceSpan& work) const {
  const auto found = launches_.find(work.correlation);
  return work.correlation != 0 && found != launches_.end() ? found->second : kNone;
}

std::uint32_t TraceLinks::OperatorOf(const TraceSpan& work) const {
  if (work.external != 0 && work.external != work.correlation) {
    const auto found = operators_.find(work.external);
    if (found != operators_.end() && found->second != kNone) return found->second;
  }
  const std::uint32_t launch = LaunchOf(work);
  return launch == kNone ? kNone : parents_[launch];
}

}  // namespace stepscope
