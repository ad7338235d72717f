#include "server/trace/evidence.h"

#include <algorithm>

#include "server/trace/breakdown.h"
#include "server/trace/copies.h"
#include "server/trace/launches.h"
#include "server/trace/trace_json.h"

namespace stepscope {
namespace {

struct CopyTimes {
  std::int64_t to_device_ns = 0, to_host_ns = 0, all_ns = 0;
};

CopyTimes TimesOf(const std::vector<CopyRow>& copies) {
  CopyTimes times;
  for (const CopyRow& row : copies) {
    const std::string_view direction = DirectionOf(row.name);
    if (direction == "HtoD") times.to_device_ns += row.total_ns;
    if (direction == "DtoH") times.to_host_ns += row.total_ns;
    times.all_ns += row.total_ns;
  }
  return times;
}

}  // namespace

OrderedJson EvidenceOf(const TraceLinks& links) {
  const auto breakdown = MakeBreakdown(links);
  std::array<std::int64_t, kTimePartCount> parts_ns{};
  std::int64_t wall_ns = 0;
  std::size_t steps = 0, rows = 0;
  for (const DeviceBreakdown& device : breakdown) {
    steps = std::max(steps, device.steps.size());
    for (const BreakdownRow& row : device.steps) {
      for (std::size_t i = 0; i < kTimePartCount; ++i) parts_ns[i] += row.parts_ns[i];
      wall_ns += row.range.length_ns();
      ++rows;
    }
  }
  if (rows == 0) return nullptr;
  OrderedJson seconds = OrderedJson::object();
  for (std::size_t i = 0; i < kTimePartCount; ++i) {
    seconds[std::string(kTimeParts[i])] = SecondsOf(parts_ns[i]);
  }
  const LaunchTable launches = MakeLaunchTable(links);
  const CopyTimes copies = TimesOf(MakeCopyTable(links));
  const auto kernels = static_cast<std::int64_t>(launches.kernels);
  return {
      {"of_device", breakdown.front().device >= 0},
      {"steps", steps},
      {"step_seconds", SecondsOf(wall_ns / static_cast<std::int64_t>(rows))},
      {"wall_seconds", SecondsOf(wall_ns)},
      {"seconds", std::move(seconds)},
      {"to_device_share", ShareOf(copies.to_device_ns, copies.all_ns)},
      {"to_host_share", ShareOf(copies.to_host_ns, copies.all_ns)},
      {"waits_in_copies_share",
       ShareOf(launches.copy_call_ns, launches.copy_call_ns + launches.sync_ns)},
      {"short_kernel_share", ShareOf(static_cast<std::int64_t>(launches.short_kernels), kernels)}};
}

}  // namespace stepscope
