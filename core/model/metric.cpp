#include "core/model/metric.h"

#include <algorithm>

namespace stepscope {
namespace {

using enum DeviceKind;

constexpr Metric kMetrics[] = {
    {"node_cpu_percent", kNode, "%", 2, "CPU time in use, mean of all cores; I/O wait is not use."},
    {"node_iowait_percent", kNode, "%", 2, "Time idle with disk requests open, mean of all cores."},
    {"cpu_util_percent", kCpu, "%", 2, "CPU time in use of one core; I/O wait is not use."},
    {"cpu_iowait_percent", kCpu, "%", 2, "Time one core was idle with disk requests open."},
    {"load_1m", kNode, "", 2, "Runnable and blocked tasks, one-minute average of the kernel."},
    {"memory_used_percent", kNode, "%", 2, "Memory that is not available, of the total."},
    {"memory_used_bytes", kNode, "bytes", 0, "Total memory minus available memory."},
    {"memory_total_bytes", kNode, "bytes", 0, "Memory of the node."},
    {"swap_used_bytes", kNode, "bytes", 0, "Swap space in use."},
    {"pressure_cpu_percent", kNode, "%", 2, "Time in which some task waited for a CPU."},
    {"pressure_memory_percent", kNode, "%", 2, "Time in which some task waited for memory."},
    {"pressure_memory_full_percent", kNode, "%", 2, "Time in which all tasks waited for memory."},
    {"pressure_io_percent", kNode, "%", 2, "Time in which some task waited for a disk."},
    {"pressure_io_full_percent", kNode, "%", 2, "Time in which all tasks waited for a disk."},
    {"disk_read_bytes_per_second", kDisk, "bytes/s", 0, "Bytes read from the device."},
    {"disk_write_bytes_per_second", kDisk, "bytes/s", 0, "Bytes written to the device."},
    {"disk_busy_percent", kDisk, "%", 2, "Time in which the device had requests."},
    {"network_receive_bytes_per_second", kNetwork, "bytes/s", 0, "Bytes received."},
    {"network_send_bytes_per_second", kNetwork, "bytes/s", 0, "Bytes sent."},
    {"gpu_util_percent", kGpu, "%", 2, "Time in which any kernel ran on the GPU."},
    {"gpu_memory_used_percent", kGpu, "%", 2, "Allocated memory of the GPU, of its total."},
    {"gpu_memory_busy_percent", kGpu, "%", 2,
     "Time in which the GPU's memory controller was busy."},
};

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

}  // namespace

std::span<const Metric> Metrics() {
  return kMetrics;
}

const Metric* FindMetric(std::string_view name) {
  const auto* found = std::ranges::find(kMetrics, name, &Metric::name);
  return found == std::end(kMetrics) ? nullptr : found;
}

bool IsCustomMetric(std::string_view name) {
  constexpr std::string_view kPrefix = "user.";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() && name.size() <= 63 &&
         std::ranges::all_of(name, IsNameByte);
}

std::string_view ToText(DeviceKind kind) {
  switch (kind) {
    case kNode:
      return "node";
    case kCpu:
      return "cpu";
    case kGpu:
      return "gpu";
    case kDisk:
      return "disk";
    case kNetwork:
      return "network";
  }
  return "node";
}

}  // namespace stepscope
