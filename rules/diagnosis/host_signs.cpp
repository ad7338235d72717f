#include "rules/diagnosis/host_signs.h"

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
  kProcess,
  kLoaders,
  kLoadersCpu,
  kLoadersBlocked,
  kNodeCpu,
  kSent,
  kThrottled,
  kThreadWaits,
  kLoadersWait,
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
    "process_cpu_percent",
    "process_loaders",
    "process_loaders_cpu_percent",
    "process_loaders_blocked_percent",
    "node_cpu_percent",
    "gpu_pcie_send_bytes_per_second",
    "cgroup_throttled_percent",
    "process_thread_waiting_percent",
    "process_loaders_waiting_percent",
};
// From here on the host shows that it works, or waits, at its limit.
constexpr double kCoreBusy = 90, kCoreWaits = 50, kNodeWaits = 20, kDiskBusy = 80, kLinkFull = 0.9;
// A main thread below it launches nothing, whatever its process does besides.
constexpr double kLaunchesAtAll = 25;
// Below this a GPU does nothing at all.
constexpr double kGpuAsleep = 1;

// Calls use(value) for each series of the metric that has a sample in the row.
template <typename Use>
void ForEachSample(const std::vector<const Column*>& columns, std::size_t row, Use&& use) {
  for (const Column* column : columns) {
    if (column->Has(row)) use(column->At(row));
  }
}

}  // namespace

std::span<const std::string_view> HostSigns::Metrics() {
  static_assert(std::size(kNames) == kMetrics);
  return kNames;
}

// Gives each process the series of its loaders, which is of the same device.
void HostSigns::PairLoaders(const TickView& ticks) {
  for (std::size_t i = 0; i < ticks.series.size(); ++i) {
    if (ticks.series[i].metric != kNames[kLoadersCpu]) continue;
    for (Process& process : processes_) {
      const auto at = static_cast<std::size_t>(process.cpu - ticks.columns.data());
      if (ticks.series[at].device == ticks.series[i].device) process.loaders = &ticks.columns[i];
    }
  }
}

HostSigns::HostSigns(const TickView& ticks) {
  for (std::size_t i = 0; i < ticks.series.size(); ++i) {
    const auto name = std::ranges::find(kNames, ticks.series[i].metric);
    if (name == std::end(kNames)) continue;
    of_[static_cast<std::size_t>(name - kNames)].push_back(&ticks.columns[i]);
    if (*name == kNames[kProcess]) processes_.push_back({&ticks.columns[i], nullptr});
  }
  PairLoaders(ticks);
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

void HostSigns::KeepSeldom(std::size_t row, HostSeldom& seldom) const {
  seldom.link = std::max(seldom.link, Highest(kLink, row));
  double highest = -1;
  for (const Process& process : processes_) {
    if (!process.cpu->Has(row)) continue;
    const bool loads = process.loaders != nullptr && process.loaders->Has(row);
    highest = std::max(highest, process.cpu->At(row) - (loads ? process.loaders->At(row) : 0));
  }
  if (highest >= 0) seldom.process_cpu = highest;
}

void HostSigns::AddMeans(std::size_t row, HostSums& sums) const {
  const auto add = [&](Sign sign, SampleMean& mean) {
    ForEachSample(of_[sign], row, [&](double value) { mean.Add(value); });
  };
  add(kThread, sums.thread_percent);
  add(kThreadWaits, sums.thread_waits);
  add(kNodeCpu, sums.cpu_percent);
  ForEachSample(of_[kSent], row, [&](double bytes) { sums.sent_megabytes.Add(bytes / 1e6); });
  add(kThrottled, sums.throttled_percent);
  SampleMean loaders, cpu, waits, blocked;
  ForEachSample(of_[kLoaders], row, [&](double value) { loaders.Add(value); });
  ForEachSample(of_[kLoadersCpu], row, [&](double value) { cpu.Add(value); });
  ForEachSample(of_[kLoadersWait], row, [&](double value) { waits.Add(value); });
  ForEachSample(of_[kLoadersBlocked], row, [&](double value) { blocked.Add(value); });
  if (loaders.known()) sums.loaders.Add(loaders.sum);
  if (loaders.sum < 1) return;
  if (cpu.known()) sums.loader_percent.Add(cpu.sum / loaders.sum);
  if (waits.known()) sums.loader_waits.Add(waits.sum / loaders.sum);
  if (blocked.known()) sums.loader_blocked.Add(blocked.sum / loaders.sum);
}

Cause HostSigns::Shown(std::size_t row, HostSeldom& seldom, double busy_thread) const {
  const auto highest = [&](Sign sign) { return Highest(sign, row); };
  KeepSeldom(row, seldom);
  const bool waits = highest(kNodeWait) > kNodeWaits || highest(kCoreWait) > kCoreWaits ||
                     highest(kDisk) > kDiskBusy;
  const bool full = seldom.link > 0 && highest(kReceive) > kLinkFull * seldom.link;
  if (full || (waits && highest(kRead) >= highest(kWrite))) return Cause::kRawInput;
  if (waits) return Cause::kStorage;
  const bool awake = highest(kGpu) > kGpuAsleep;
  const bool launching =
      highest(kThread) > busy_thread ||
      (HasThread(row) && highest(kThread) > kLaunchesAtAll && seldom.process_cpu > busy_thread);
  if (awake && launching) return Cause::kFrameworkOverhead;
  if (highest(kCore) > kCoreBusy) return Cause::kPreprocessing;
  return awake ? Cause::kUnderUse : Cause::kUnknown;
}

}  // namespace stepscope
