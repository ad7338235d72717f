#include "rules/signals/host_signs.h"

#include <algorithm>

namespace stepscope {
namespace {

enum Sign : std::size_t {
  kGpu,
  kCore,
  kNodeWait,
  kCoreWait,
  kDisk,
  kRead,
  kWrite,
  kReceive,
  kLink,
  kThread,
};
constexpr std::string_view kNames[] = {
    // in the order of Sign
    "gpu_util_percent",
    "cpu_util_percent",
    "node_iowait_percent",
    "cpu_iowait_percent",
    "disk_busy_percent",
    "disk_read_bytes_per_second",
    "disk_write_bytes_per_second",
    "network_receive_bytes_per_second",
    "network_link_bytes_per_second",
    "process_thread_cpu_percent",
};
// From here on the host shows that it works, or waits, at its limit.
constexpr double kCoreBusy = 90, kCoreWaits = 50, kNodeWaits = 20, kDiskBusy = 80, kLinkFull = 0.9;
// Below this a GPU does nothing at all.
constexpr double kGpuAsleep = 1;

}  // namespace

std::span<const std::string_view> HostSigns::Metrics() {
  static_assert(std::size(kNames) == kMetrics);
  return kNames;
}

HostSigns::HostSigns(const TickView& ticks) {
  for (std::size_t i = 0; i < ticks.series.size(); ++i) {
    const auto name = std::ranges::find(kNames, ticks.series[i].metric);
    if (name == std::end(kNames)) continue;
    of_[static_cast<std::size_t>(name - kNames)].push_back(&ticks.columns[i]);
  }
}

double HostSigns::Highest(std::size_t metric, std::size_t row) const {
  double highest = 0;
  for (const Column* column : of_[metric]) {
    if (column->Has(row)) highest = std::max(highest, column->At(row));
  }
  return highest;
}

bool HostSigns::HasThread(std::size_t row) const {
  return std::ranges::any_of(of_[kThread],
                             [row](const Column* thread) { return thread->Has(row); });
}

Cause HostSigns::Shown(std::size_t row, double& link, double busy_thread) const {
  const auto highest = [&](Sign sign) { return Highest(sign, row); };
  link = std::max(link, highest(kLink));
  const bool waits = highest(kNodeWait) > kNodeWaits || highest(kCoreWait) > kCoreWaits ||
                     highest(kDisk) > kDiskBusy;
  const bool full = link > 0 && highest(kReceive) > kLinkFull * link;
  if (full || (waits && highest(kRead) >= highest(kWrite))) return Cause::kRawInput;
  if (waits) return Cause::kStorage;
  const bool awake = highest(kGpu) > kGpuAsleep;
  if (awake && highest(kThread) > busy_thread) return Cause::kFrameworkOverhead;
  if (highest(kCore) > kCoreBusy) return Cause::kPreprocessing;
  return awake ? Cause::kUnderUse : Cause::kUnknown;
}

}  // namespace stepscope
