#include "agent/top/top_view.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace stepscope {
namespace {

// Calls a function for each device that has this metric, in the order of the ticks.
void EachDevice(const TickRow& row, std::string_view metric,
                const std::function<void(const std::string& device)>& take) {
  for (const SeriesName& series : row.series()) {
    if (series.metric == metric) take(series.device);
  }
}

// GPUs of any vendor: Intel's files, for example, do not tell the memory in use.
std::vector<std::string> GpusOf(const TickRow& row) {
  std::vector<std::string> gpus;
  for (const SeriesName& series : row.series()) {
    if (!series.metric.starts_with("gpu_")) continue;
    if (std::ranges::find(gpus, series.device) == gpus.end()) gpus.push_back(series.device);
  }
  return gpus;
}

}  // namespace

TopView ViewOf(const TickRow& row, const std::string& node, Time at) {
  TopView view{.node = node,
               .at = at,
               .cpu_percent = row.At("node_cpu_percent"),
               .iowait_percent = row.At("node_iowait_percent"),
               .load = row.At("load_1m"),
               .memory_used = row.At("memory_used_bytes"),
               .memory_total = row.At("memory_total_bytes"),
               .swap_used = row.At("swap_used_bytes")};
  EachDevice(row, "cpu_util_percent", [&](const std::string& core) {
    view.core_percents.push_back(row.At("cpu_util_percent", core));
  });
  for (const std::string& gpu : GpusOf(row)) {
    view.gpus.push_back({gpu, row.At("gpu_util_percent", gpu), row.At("gpu_memory_used_bytes", gpu),
                         row.At("gpu_memory_total_bytes", gpu), row.At("gpu_power_watts", gpu),
                         row.At("gpu_temperature_celsius", gpu)});
  }
  EachDevice(row, "disk_read_bytes_per_second", [&](const std::string& disk) {
    view.disks.push_back({disk, row.At("disk_read_bytes_per_second", disk),
                          row.At("disk_write_bytes_per_second", disk),
                          row.At("disk_busy_percent", disk)});
  });
  EachDevice(row, "network_receive_bytes_per_second", [&](const std::string& network) {
    view.networks.push_back({network, row.At("network_receive_bytes_per_second", network),
                             row.At("network_send_bytes_per_second", network)});
  });
  return view;
}

}  // namespace stepscope
