import type { Job, Values } from "../../model";
import { countOf, hasGpus, kCpuRow, kGpuRow, kMemoryRow, lines, perDevice, type Row, seriesOf, type Source } from "../panels";
import { mean, sum, type Trace } from "../traces";

// The charts of System: a row for each.

const hundredths = (values: Values): Values => values.map((value) => (value === null ? null : value / 100));
const inCores = (traces: readonly Trace[]): readonly Trace[] =>
  traces.map((trace) => ({ ...trace, mean: hundredths(trace.mean), peak: trace.peak ? hundredths(trace.peak) : null }));

const kProcesses = ["process_thread_cpu_percent", "process_thread_waiting_percent", "process_cpu_percent",
  "process_loaders_cpu_percent", "process_loaders_waiting_percent"];
const kProcessWords = ["Training thread", "Training thread, waiting for a core", "All processes", "Loaders", "Loaders, waiting for a core"];
const kWork = ["gpu_sm_active_percent", "gpu_tensor_active_percent", "gpu_dram_active_percent"];
const kSlowed = ["gpu_power_throttle_percent", "gpu_thermal_throttle_percent"];
const kPressure = ["pressure_cpu_percent", "pressure_memory_percent", "pressure_io_percent"];
const kMemory = ["memory_available_bytes", "memory_shared_bytes"];
const kGroupMemory = ["cgroup_memory_bytes", "cgroup_memory_anon_bytes", "cgroup_memory_limit_bytes"];

const sumNote = (source: Source, metric: string, what: string): string => {
  const found = seriesOf(source, metric);
  const many = countOf(found);
  return many > 1 ? `sum of ${many} ${what}` : (found[0]?.device ?? "");
};

const kGpu = { gpu: true } as const;
const kRare = { rare: true } as const;
const kRareGpu = { ...kGpu, ...kRare };

/** A chart of several metrics with a line for each, which is the mean of its series. */
function perMetric(id: string, title: string, unit: string, metrics: readonly string[], labels: readonly string[], note: string, more: Partial<Row> = kRare): Row {
  return { id, title, unit, metrics, traces: lines(metrics, labels, mean), note: () => note, ...more };
}

/** A chart of the bytes a second in each direction, summed over all devices. */
function throughput(id: string, title: string, source: string, ways: readonly string[], what: string, more: Partial<Row> = kRare): Row {
  const metrics = ways.map((way) => `${source}_${way.toLowerCase()}_bytes_per_second`);
  return {
    id, title, unit: "bytes/s", metrics, traces: lines(metrics, ways, sum),
    note: (series) => sumNote(series, metrics[0] as string, what), ...more,
  };
}
const kReadWrite = ["Read", "Write"];
const kReceiveSend = ["Receive", "Send"];

const kRows: readonly Row[] = [
  kGpuRow,
  perDevice("gpumem", "GPU memory", "%", "gpu_memory_used_percent", "GPU", "allocated, of each GPU's total"),
  perMetric("gpuwork", "GPU at work", "%", kWork, ["Processors", "Tensor cores", "Memory bandwidth"],
    "share that had work, mean of all", kRareGpu),
  perDevice("gpupower", "GPU power", "W", "gpu_power_watts", "GPU", "of each GPU", kRareGpu),
  perMetric("gpuslow", "GPU slowed down", "%", kSlowed, ["For power", "For heat"],
    "time in which its clocks were held down", kRareGpu),
  throughput("gpupcie", "GPU, PCIe", "gpu_pcie", [...kReceiveSend, "Link"], "GPUs", kRareGpu),
  throughput("gpunvlink", "GPU, NVLink", "gpu_nvlink", kReceiveSend, "GPUs", kRareGpu),
  kCpuRow,
  kMemoryRow,
  perMetric("available", "Available memory", "bytes", kMemory, ["Available", "Shared (/dev/shm)"], "mean of all nodes"),
  throughput("disk", "Disk", "disk", kReadWrite, "disks", {}),
  throughput("network", "Network", "network", kReceiveSend, "interfaces", {}),
  throughput("rdma", "InfiniBand, RoCE", "rdma", kReceiveSend, "ports"),
  throughput("nfs", "NFS", "nfs", kReadWrite, "mounts"),
  {
    id: "processes", title: "Cores of ranks", unit: "", metrics: kProcesses, rare: true,
    traces: (source) => inCores(lines(kProcesses, kProcessWords, mean)(source)),
    note: () => "mean of all ranks",
  },
  perDevice("evaluating", "Ranks in evaluation", "%", "rank_evaluating_percent", "Evaluating", "time in which a rank evaluated, about 10 s late", kRare),
  perDevice("rankmemory", "GPU memory of ranks", "bytes", "process_gpu_memory_bytes", "Held", "on all GPUs together", kRare),
  perMetric("groupmemory", "Control group, memory", "bytes", kGroupMemory, ["In use, cached files too", "Held by processes", "Limit"], "mean of all nodes"),
  perDevice("groupcpu", "Control group, CPU quota used up", "%", "cgroup_throttled_percent", "Throttled", "of its scheduling periods", kRare),
  perDevice("groupkills", "Control group, killed for want of memory", "", "cgroup_oom_kills", "Processes", "since the group began", kRare),
  throughput("groupio", "Control group, disk", "cgroup", kReadWrite, "nodes"),
  perMetric("pressure", "Pressure", "%", kPressure, ["CPU", "Memory", "Disk"], "time in which some task waited", {}),
  perDevice("load", "Load", "", "load_1m", "Tasks", "runnable and blocked tasks, 1 min average", {}),
];

/** The charts of samples that System has, whatever was measured. */
export const systemRows = (job: Job): readonly Row[] => kRows.filter((row) => !row.gpu || hasGpus(job));
