import type { Job, JudgedRule, Metrics, Series } from "../model";
import { align, type Fold, fold, highest, lowest, mean, sum, type Trace } from "./traces";

// The charts of a job as a table of rows: what each shows and how its lines come from the series.

export interface Threshold {
  readonly rule: string;
  readonly value: number;
  readonly beyond: "above" | "below";
}

export interface Panel {
  readonly id: string;
  readonly title: string;
  readonly note: string;
  readonly unit: string;
  readonly traces: readonly Trace[];
  readonly threshold: Threshold | null;
  readonly empty: string;
  /** Its points are steps, or what a program tells when it likes: nothing is measured between them. */
  readonly sparse?: boolean;
  /** Its values may be any: y follows them instead of beginning at 0. */
  readonly free?: boolean;
  /** Each trace stands on those before it. */
  readonly stacks?: boolean;
}

/** Up to this many cores are asked for one by one; above, the node's own mean speaks for them. */
export const kMostCores = 32;
const kMostLines = 5;
const kNoSamples = "No samples in this span of time.";
/** Above this many nodes or GPUs the service folds the series of a metric into one. */
const kMostNodes = 16;
const kMostGpus = 40;

type Source = readonly Series[];

function of(source: Source, metric: string): readonly Series[] {
  return source.filter((series) => series.metric === metric && series.times_us.length > 0);
}

function line(series: readonly Series[], label: string, tone: number, how: Fold, column: "mean" | "sum" = "mean"): Trace {
  const aligned = align(series);
  return { label, tone, timesMs: aligned.timesMs, mean: fold(aligned, column, how), low: null, high: null };
}

/** One trace with the lowest and highest of `around` as its band. */
function banded(series: readonly Series[], around: readonly Series[], label: string): Trace {
  const trace = line(series, label, 0, mean);
  const aligned = align([...series, ...around]);
  const times = new Map(aligned.timesMs.map((ms, row) => [ms, row]));
  const band = (column: "min" | "max", how: Fold) => {
    const values = fold(aligned, column, how);
    return trace.timesMs.map((ms) => values[times.get(ms) ?? -1] ?? null);
  };
  return { ...trace, low: band("min", lowest), high: band("max", highest) };
}

/** How many series were measured, also when the service folded them. */
const countOf = (series: readonly Series[]) => series.reduce((total, { of: many }) => total + (many ?? 1), 0);
const nameOf = ({ node, device }: Series) => (device === "" ? node : `${node} ${device}`);

/** One series: its band. A few: a line each. Many: their mean and their band. */
function spread(series: readonly Series[], one: string, what: "nodes" | "GPUs" | "series"): readonly Trace[] {
  const many = countOf(series);
  if (many === 0) return [];
  if (many === 1) return [banded(series, series, one)];
  if (many > kMostLines || many > series.length) return [banded(series, series, `Mean of ${many} ${what}`)];
  return series.map((each, tone) => line([each], nameOf(each), tone, mean));
}

function cpuTraces(source: Source): readonly Trace[] {
  const nodes = of(source, "node_cpu_percent");
  const cores = of(source, "cpu_util_percent");
  if (countOf(nodes) !== 1) return spread(nodes, "CPU", "nodes");
  const wait = of(source, "node_iowait_percent").map((series) => line([series], "I/O wait", 1, mean));
  return [banded(nodes, cores.length > 0 ? cores : nodes, "In use"), ...wait];
}

function pair(source: Source, first: readonly [string, string], second: readonly [string, string]): readonly Trace[] {
  return [first, second].flatMap(([metric, label], tone) => {
    const series = of(source, metric);
    return series.length === 0 ? [] : [line(series, label, tone, sum, series[0]?.sum ? "sum" : "mean")];
  });
}

/** A line for each metric: the mean of its series. */
const means = (metrics: readonly string[], labels: readonly string[]) => (source: Source): readonly Trace[] =>
  metrics.flatMap((metric, tone) => {
    const series = of(source, metric);
    return series.length === 0 ? [] : [line(series, labels[tone] ?? metric, tone, mean)];
  });

const inCores = (traces: readonly Trace[]): readonly Trace[] =>
  traces.map((trace) => ({ ...trace, mean: trace.mean.map((value) => (value === null ? null : value / 100)) }));

const kProcesses = ["process_thread_cpu_percent", "process_cpu_percent", "process_loaders_cpu_percent"];
const kWork = ["gpu_sm_active_percent", "gpu_tensor_active_percent", "gpu_dram_active_percent"];
const kSlowed = ["gpu_power_throttle_percent", "gpu_thermal_throttle_percent"];
const kPressure = ["pressure_cpu_percent", "pressure_memory_percent", "pressure_io_percent"];

interface Row {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly metrics: readonly string[];
  readonly traces: (source: Source) => readonly Trace[];
  readonly note: (source: Source) => string;
  readonly rule?: readonly [rule: string, parameter: string, beyond: "above" | "below"];
  readonly gpu?: boolean;
  /** Not every GPU has it: without samples there is no chart. */
  readonly seldom?: boolean;
}

const several = (source: Source, metric: string, what: string): string => {
  const found = of(source, metric);
  const many = countOf(found);
  return many > 1 ? `sum of ${many} ${what}` : (found[0]?.device ?? "");
};

function cpuNote(source: Source): string {
  const cores = of(source, "cpu_util_percent").length;
  if (countOf(of(source, "node_cpu_percent")) > 1) return "mean of each node's cores";
  return cores > 0 ? `mean of ${cores} cores, band from the lowest to the highest core` : "mean of all cores, band = min–max";
}

const kRows: readonly Row[] = [
  {
    id: "gpu", title: "GPU utilisation", unit: "%", metrics: ["gpu_util_percent"], gpu: true,
    traces: (source) => spread(of(source, "gpu_util_percent"), "GPU", "GPUs"),
    note: () => "time in which any kernel ran", rule: ["LowGPUUtilization", "threshold_p95", "below"],
  },
  {
    id: "gpumem", title: "GPU memory", unit: "%", metrics: ["gpu_memory_used_percent"], gpu: true,
    traces: (source) => spread(of(source, "gpu_memory_used_percent"), "GPU", "GPUs"),
    note: () => "allocated, of each GPU's total",
  },
  {
    id: "gpuwork", title: "GPU at work", unit: "%", gpu: true, seldom: true,
    metrics: kWork, traces: means(kWork, ["Processors", "Tensor cores", "Memory bandwidth"]),
    note: () => "share that had work, mean of all",
  },
  {
    id: "gpupower", title: "GPU power", unit: "W", metrics: ["gpu_power_watts"], gpu: true, seldom: true,
    traces: (source) => spread(of(source, "gpu_power_watts"), "GPU", "GPUs"),
    note: () => "of each GPU",
  },
  {
    id: "gpuslow", title: "GPU slowed down", unit: "%", gpu: true, seldom: true,
    metrics: kSlowed, traces: means(kSlowed, ["For power", "For heat"]),
    note: () => "time in which its clocks were held down",
  },
  {
    id: "cpu", title: "CPU", unit: "%", metrics: ["node_cpu_percent", "node_iowait_percent"],
    traces: cpuTraces, note: cpuNote, rule: ["CPUBottleneck", "cpu_threshold", "above"],
  },
  {
    id: "memory", title: "Memory", unit: "%", metrics: ["memory_used_percent"],
    traces: (source) => spread(of(source, "memory_used_percent"), "In use", "nodes"),
    note: () => "not available, of the total",
  },
  {
    id: "disk", title: "Disk", unit: "bytes/s",
    metrics: ["disk_read_bytes_per_second", "disk_write_bytes_per_second"],
    traces: (source) =>
      pair(source, ["disk_read_bytes_per_second", "Read"], ["disk_write_bytes_per_second", "Write"]),
    note: (source) => several(source, "disk_read_bytes_per_second", "disks"),
  },
  {
    id: "network", title: "Network", unit: "bytes/s",
    metrics: ["network_receive_bytes_per_second", "network_send_bytes_per_second"],
    traces: (source) =>
      pair(source, ["network_receive_bytes_per_second", "Receive"], ["network_send_bytes_per_second", "Send"]),
    note: (source) => several(source, "network_receive_bytes_per_second", "interfaces"),
  },
  {
    id: "rdma", title: "InfiniBand, RoCE", unit: "bytes/s", seldom: true,
    metrics: ["rdma_receive_bytes_per_second", "rdma_send_bytes_per_second"],
    traces: (source) =>
      pair(source, ["rdma_receive_bytes_per_second", "Receive"], ["rdma_send_bytes_per_second", "Send"]),
    note: (source) => several(source, "rdma_receive_bytes_per_second", "ports"),
  },
  {
    id: "nfs", title: "NFS", unit: "bytes/s", seldom: true,
    metrics: ["nfs_read_bytes_per_second", "nfs_write_bytes_per_second"],
    traces: (source) =>
      pair(source, ["nfs_read_bytes_per_second", "Read"], ["nfs_write_bytes_per_second", "Write"]),
    note: (source) => several(source, "nfs_read_bytes_per_second", "mounts"),
  },
  {
    id: "processes", title: "Cores in use by ranks", unit: "", metrics: kProcesses, seldom: true,
    traces: (source) => inCores(means(kProcesses, ["Training thread", "All processes", "Loaders"])(source)),
    note: () => "mean of all ranks",
  },
  {
    id: "pressure", title: "Pressure", unit: "%",
    metrics: kPressure, traces: means(kPressure, ["CPU", "Memory", "Disk"]),
    note: () => "time in which some task waited",
  },
  {
    id: "load", title: "Load", unit: "", metrics: ["load_1m"],
    traces: (source) => spread(of(source, "load_1m"), "Tasks", "nodes"),
    note: () => "runnable and blocked tasks, 1 min average",
  },
];

export const hasGpus = (job: Job) => job.nodes.some((node) => (node.gpus?.length ?? 0) > 0);
const rowsOf = (job: Job) => kRows.filter((row) => !row.gpu || hasGpus(job));

/** Those that are there whatever was measured. */
export function panelCount(job: Job): number {
  return rowsOf(job).filter((row) => !row.seldom).length;
}

/** Whether one series of each metric is asked for, over all nodes and devices. */
export function isFolded(job: Job): boolean {
  const gpus = job.nodes.reduce((total, node) => total + (node.gpus?.length ?? 0), 0);
  return job.nodes.length > kMostNodes || gpus > kMostGpus;
}

/** The metrics that the page of this job asks for, all in one call. */
export function metricsOf(job: Job): readonly string[] {
  const cores = job.nodes.reduce((total, node) => total + (node.cores ?? 0), 0);
  const each = job.nodes.length === 1 && cores <= kMostCores ? ["cpu_util_percent"] : [];
  return [...rowsOf(job).flatMap((row) => row.metrics), ...each];
}

/** Of a rule that the job has for this metric; the first of several. */
function customThreshold(rules: readonly JudgedRule[], metric: string): Threshold | null {
  const own = rules.find(({ rule, parameters }) => rule === "Custom" && parameters["metric"] === metric);
  const value = own?.parameters["threshold"];
  if (own === undefined || typeof value !== "number") return null;
  return { rule: own.rule_configuration_name, value, beyond: own.parameters["comparison"] === "below" ? "below" : "above" };
}

function thresholdOf(rules: readonly JudgedRule[], row: Row): Threshold | null {
  const [only, ...others] = row.metrics;
  if (!row.rule) return only && others.length === 0 ? customThreshold(rules, only) : null;
  const [name, parameter, beyond] = row.rule;
  const value = rules.find((each) => each.rule === name)?.parameters[parameter];
  return typeof value === "number" ? { rule: name, value, beyond } : null;
}

function why(job: Job, metrics: Metrics, row: Row): string {
  const word = row.id.startsWith("gpu") ? "gpu" : row.id;
  const reasons = job.nodes.flatMap(({ name, absent }) =>
    (absent ?? []).filter(({ source }) => source.includes(word)).map(({ reason }) => `${name}: ${reason}`));
  if (reasons.length > 0) return reasons.join("; ");
  return metrics.series.length === 0 ? kNoSamples : "Not measured on these nodes.";
}

export function panelsOf(job: Job, metrics: Metrics, rules: readonly JudgedRule[]): readonly Panel[] {
  const there = rowsOf(job).filter((row) => !row.seldom || row.traces(metrics.series).length > 0);
  return there.map((row) => ({
    id: row.id,
    title: row.title,
    unit: row.unit,
    note: row.note(metrics.series),
    traces: row.traces(metrics.series),
    threshold: thresholdOf(rules, row),
    empty: why(job, metrics, row),
  }));
}

/** A metric of the user's own, "user." and a name. */
export function ownPanel(metric: string, metrics: Metrics, rules: readonly JudgedRule[]): Panel {
  const found = of(metrics.series, metric);
  return {
    id: metric, title: metric.slice(5), note: metric, unit: "",
    traces: spread(found, found[0]?.node ? nameOf(found[0]) : "Value", "series"),
    threshold: customThreshold(rules, metric), sparse: true, free: true, empty: kNoSamples,
  };
}
