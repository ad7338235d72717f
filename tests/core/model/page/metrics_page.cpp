#include "tests/core/model/page/metrics_page.h"

#include "core/base/text.h"
#include "core/model/metric.h"

namespace stepscope {
namespace {

struct Source {
  std::string_view beginning;  // the metric's name begins so
  std::string_view words;
};

constexpr std::string_view kNvml = "NVIDIA: NVML";
constexpr std::string_view kAll = "NVIDIA: NVML; AMD: `amdgpu`; Intel: `xe`, `i915`";
constexpr std::string_view kNotIntel = "NVIDIA: NVML; AMD: `amdgpu`";

// The longest beginning counts.
constexpr Source kSources[] = {
    {"node_", "`/proc/stat`"},
    {"node_cpu_clock", "`/sys/devices/system/cpu/*/cpufreq`, `/proc/cpuinfo`"},
    {"cpu_", "`/proc/stat`"},
    {"cpu_clock", "`/sys/devices/system/cpu/*/cpufreq`, `/proc/cpuinfo`"},
    {"load_", "`/proc/loadavg`"},
    {"memory_", "`/proc/meminfo`"},
    {"memory_faults", "`/proc/vmstat`"},
    {"memory_major_faults", "`/proc/vmstat`"},
    {"memory_oom_kills", "`/proc/vmstat`"},
    {"swap_", "`/proc/vmstat`"},
    {"swap_used", "`/proc/meminfo`"},
    {"pressure_", "`/proc/pressure`"},
    {"cgroup_", "files of the agent's control group, versions 1 and 2"},
    {"disk_", "`/sys/block/*/stat`, `/proc/diskstats`"},
    {"nfs_", "`/proc/self/mountstats`"},
    {"network_", "`/proc/net/dev`"},
    {"network_link", "`/sys/class/net/*/speed`"},
    {"tcp_", "`/proc/net/snmp`"},
    {"rdma_", "`/sys/class/infiniband`"},
    {"rank_", "marks of the training"},
    {"process_", "`/proc/PID` of the rank"},
    {"process_gpu_memory", "NVIDIA: NVML, by process"},
    {"process_loaders", "`/proc/PID` of the rank's children"},
    {"gpu_", kNvml},
    {"gpu_util", kAll},
    {"gpu_memory_busy", kNotIntel},
    {"gpu_memory_used", kNotIntel},
    {"gpu_memory_total", kAll},
    {"gpu_power_watts", kAll},
    {"gpu_temperature", kAll},
    {"gpu_sm_clock", kAll},
    {"gpu_memory_clock", kNotIntel},
    {"gpu_pcie_link", kNotIntel},
    {"gpu_sm_active", "NVIDIA from Hopper on: NVML (GPM)"},
    {"gpu_sm_occupancy", "NVIDIA from Hopper on: NVML (GPM)"},
    {"gpu_tensor_active", "NVIDIA from Hopper on: NVML (GPM)"},
    {"gpu_dram_active", "NVIDIA from Hopper on: NVML (GPM)"},
};

struct Part {
  DeviceKind device;
  std::string_view title, about;
};
constexpr Part kParts[] = {
    {DeviceKind::kNode, "Of a node", "One series a node."},
    {DeviceKind::kCpu, "Of a core",
     "One series a core. On nodes of more than 32 cores each has `cpu_util_percent` alone."},
    {DeviceKind::kGpu, "Of a GPU",
     "One series a GPU. What a GPU or its driver does not tell is left out "
     "([agent.md](agent.md#gpus))."},
    {DeviceKind::kDisk, "Of a disk or an NFS mount", "One series a device or a mount."},
    {DeviceKind::kNetwork, "Of a network interface or a port of InfiniBand",
     "One series an interface or a port."},
    {DeviceKind::kRank, "Of a rank",
     "One series a rank: of its training process, or of all its processes as said."},
};

constexpr std::string_view kHead =
    R"(# Metrics

Every metric that agents send, with its unit, where it comes from, and what it means. `GET /api/v1/metrics-catalog` has the same table, and `GET /api/v1/jobs/NAME/metrics?metric=` gives the samples. Rates are worked out on the node, over the time between two samples, so
each metric is a gauge: a mean, a minimum and a maximum of it mean what they say. A source that a node does not have gives no samples, and no zeros. All of these metrics are there since the first version, 0.1.0.

Names under `user.` are yours: metrics that a training marks or that a command prints ([agent.md](agent.md)). They have no row here.

This page is made from the table of metrics: `build/dev/tests/metrics_page docs/metrics.md` writes it anew.
)";

std::string RowOf(const Metric& metric) {
  const std::string unit = metric.unit.empty() ? "–" : std::string(metric.unit);
  return Format("| `{}` | {} | {} | {} |\n", metric.name, unit, SourceOf(metric.name), metric.help);
}

}  // namespace

std::string_view SourceOf(std::string_view metric) {
  Source longest;
  for (const Source& source : kSources) {
    const bool longer = source.beginning.size() > longest.beginning.size();
    if (metric.starts_with(source.beginning) && longer) longest = source;
  }
  return longest.words;
}

std::string MetricsPage() {
  std::string page(kHead);
  for (const Part& part : kParts) {
    page += Format("\n## {}\n\n{}\n\n", part.title, part.about);
    page += "| Metric | Unit | From | Meaning |\n|---|---|---|---|\n";
    for (const Metric& metric : Metrics()) {
      if (metric.device == part.device) page += RowOf(metric);
    }
  }
  return page;
}

}  // namespace stepscope
