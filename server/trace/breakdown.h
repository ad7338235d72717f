#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "server/trace/intervals.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// Where the time of a device went, without anything counted twice: the parts of a stretch add up to
// its length.
enum class TimePart {
  kComputing,      // the union of kernels that do not communicate
  kCommunication,  // the union of those that do, where nothing computes
  kCopies,         // copies and sets, where nothing computes or communicates
  kHostLate,       // idle: the next work was launched after the device had run dry
  kHostSync,       // idle: so it was, since the host waited for the device or for a copy
  kHostData,       // idle: so it was, since the host waited for its next batch
  kShortGap,       // idle for less than 10 us
  kOtherIdle,      // idle though the next work was launched, or its launch is not known
};
inline constexpr std::string_view kTimeParts[] = {
    "computing",      "exposed_communication",
    "exposed_copies", "host_late",
    "host_sync",      "host_data",
    "short_gap",      "other_idle",
};
inline constexpr std::size_t kTimePartCount = std::size(kTimeParts);
inline constexpr std::int64_t kShortGapNs = 10'000;

struct BreakdownRow {
  std::int64_t step = -1;  // its number; -1: of the whole window
  TimeRange range;
  std::array<std::int64_t, kTimePartCount> parts_ns{};
};

// A device, or the host where the trace has no work of any device. A step of a device lasts from
// the first kernel that was launched in it and computes to that of the next one, so that steps lie
// side by side however far the host is ahead, and what it copies ahead; the first one begins with
// its first work.
struct DeviceBreakdown {
  std::int64_t device = -1;  // -1: the host: what operators computed, the rest is idle
  BreakdownRow total;
  std::vector<BreakdownRow> steps;
};

// Nothing where work was launched and none of it was recorded: what the host did then says nothing
// of the device's time.
std::vector<DeviceBreakdown> MakeBreakdown(const TraceLinks& links);
OrderedJson ToJson(const std::vector<DeviceBreakdown>& breakdown, std::string_view note = "");

// Whether the host launched work of a device, and the trace has no work of any device: the profiler
// could not record it.
bool LacksDeviceWork(const TraceLinks& links);
inline constexpr std::string_view kDeviceWorkLacks =
    "the host launched work, and the profiler recorded no work of a device: what the devices did "
    "is not known";

}  // namespace stepscope
