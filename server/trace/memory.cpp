#include "server/trace/memory.h"

#include <algorithm>
#include <map>

#include "server/trace/trace_json.h"

namespace stepscope {
namespace {

// Finds the innermost operator that is open at a time on a track.
class OpenOperators {
 public:
  explicit OpenOperators(const TraceLinks& links)
      : links_(links), by_track_(links.trace().tracks.size()) {
    const Trace& trace = links.trace();
    for (std::uint32_t i = 0; i < trace.spans.size(); ++i) {
      if (trace.spans[i].kind == SpanKind::kOperator) by_track_[trace.spans[i].track].push_back(i);
    }
  }

  std::string At(std::uint16_t track, std::int64_t at_ns) const {
    const auto& spans = links_.trace().spans;
    const auto& operators = by_track_[track];
    const auto next = std::ranges::upper_bound(operators, at_ns, {},
                                               [&](std::uint32_t i) { return spans[i].start_ns; });
    if (next == operators.begin()) return "";
    for (std::uint32_t i = *std::prev(next); i != TraceLinks::kNone; i = links_.ParentOf(i)) {
      if (spans[i].end_ns() >= at_ns) return links_.trace().NameOf(spans[i]);
    }
    return "";
  }

 private:
  const TraceLinks& links_;
  std::vector<std::vector<std::uint32_t>> by_track_;
};

void AddPoint(const MemoryEvent& event, std::int64_t first_ns, std::int64_t length_ns,
              DeviceMemory& memory) {
  if (event.allocated < 0 && event.reserved < 0) return;
  const auto bin = [&](std::int64_t at_ns) {
    return length_ns <= 0 ? 0.0 : double(at_ns - first_ns) / double(length_ns) * kCurvePoints;
  };
  const bool same =
      !memory.curve.empty() && static_cast<std::int64_t>(bin(memory.curve.back().at_ns)) ==
                                   static_cast<std::int64_t>(bin(event.at_ns));
  if (!same) memory.curve.push_back({event.at_ns, event.allocated, event.reserved});
  MemoryPoint& point = memory.curve.back();
  point.allocated = std::max(point.allocated, event.allocated);
  point.reserved = std::max(point.reserved, event.reserved);
}

void AddLargest(const MemoryEvent& event, std::vector<const MemoryEvent*>& largest) {
  const auto place = std::ranges::upper_bound(largest, event.bytes, std::ranges::greater(),
                                              [](const MemoryEvent* one) { return one->bytes; });
  if (largest.size() == kLargest && place == largest.end()) return;
  largest.insert(place, &event);
  if (largest.size() > kLargest) largest.pop_back();
}

}  // namespace

std::vector<DeviceMemory> MakeMemory(const TraceLinks& links) {
  const Trace& trace = links.trace();
  if (trace.memory.empty()) return {};
  const OpenOperators operators(links);
  const std::int64_t first = trace.memory.front().at_ns;
  const std::int64_t length = trace.memory.back().at_ns - first;
  std::map<std::int32_t, DeviceMemory> by_device;
  std::map<std::int32_t, std::vector<const MemoryEvent*>> largest;
  for (const MemoryEvent& event : trace.memory) {
    DeviceMemory& memory = by_device[event.device];
    memory.device = event.device;
    ++(event.bytes < 0 ? memory.frees : memory.allocations);
    if (event.bytes > 0) AddLargest(event, largest[event.device]);
    if (event.allocated > memory.peak_allocated) {
      memory.peak_allocated = event.allocated;
      memory.peak_at_ns = event.at_ns;
      memory.peak_operator = operators.At(event.track, event.at_ns);
    }
    memory.peak_reserved = std::max(memory.peak_reserved, event.reserved);
    AddPoint(event, first, length, memory);
  }
  std::vector<DeviceMemory> result;
  for (auto& [device, memory] : by_device) {
    for (const MemoryEvent* event : largest[device]) {
      memory.largest.push_back(
          {event->at_ns, event->bytes, operators.At(event->track, event->at_ns)});
    }
    result.push_back(std::move(memory));
  }
  return result;
}

OrderedJson ToJson(const std::vector<DeviceMemory>& memory) {
  const auto bytes = [](std::int64_t value) {
    return value < 0 ? OrderedJson() : OrderedJson(value);
  };
  OrderedJson devices = OrderedJson::array();
  for (const DeviceMemory& device : memory) {
    OrderedJson curve = OrderedJson::array(), largest = OrderedJson::array();
    for (const MemoryPoint& point : device.curve) {
      curve.push_back({{"at_seconds", SecondsOf(point.at_ns)},
                       {"allocated_bytes", bytes(point.allocated)},
                       {"reserved_bytes", bytes(point.reserved)}});
    }
    for (const Allocation& one : device.largest) {
      largest.push_back({{"at_seconds", SecondsOf(one.at_ns)},
                         {"bytes", one.bytes},
                         {"operator", NullIfEmpty(one.operator_name)}});
    }
    devices.push_back({{"device", device.device < 0 ? OrderedJson() : OrderedJson(device.device)},
                       {"allocations", device.allocations},
                       {"frees", device.frees},
                       {"peak_allocated_bytes", bytes(device.peak_allocated)},
                       {"peak_reserved_bytes", bytes(device.peak_reserved)},
                       {"peak_at_seconds", SecondsOf(device.peak_at_ns)},
                       {"peak_operator", NullIfEmpty(device.peak_operator)},
                       {"curve", std::move(curve)},
                       {"largest", std::move(largest)}});
  }
  return {{"devices", std::move(devices)}};
}

}  // namespace stepscope
