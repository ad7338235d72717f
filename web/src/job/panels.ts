import type uPlot from "uplot";
import { duration } from "../format";
import type { Job, JudgedRule, Metrics, Series } from "../model";
import type { Palette } from "../palette";
import type { Tab } from "../tabs";
import { type Devices, nameOf } from "./devices";
import type { Stalls } from "./stalls";
import { align, type Fold, fold, highest, lowest, mean, sum, type Trace } from "./traces";
import type { Span } from "./view";

// The charts of a job as a table of rows: what each shows and how its lines come from the series.

export interface Threshold {
  readonly rule: string;
  readonly value: number;
  readonly beyond: "above" | "below";
}

/** How stacked traces are drawn and told. */
export interface Layers {
  readonly stacked: (traces: readonly Trace[]) => readonly Trace[];
  readonly series: (traces: readonly Trace[], palette: Palette, shape: Partial<uPlot.Series>) => uPlot.Series[];
  readonly sentence: (panel: Panel, span: Span) => string;
}

export interface Panel {
  readonly id: string;
  readonly title: string;
  readonly note: string;
  readonly unit: string;
  readonly traces: readonly Trace[];
  readonly threshold: Threshold | null;
  readonly empty: string;
  /** The points are steps or custom samples, which come at no fixed interval: a pause between them is no gap. */
  readonly sparse?: boolean;
  /** The values may have any range: the y axis follows them instead of beginning at 0. */
  readonly free?: boolean;
  /** What each point is the mean of, such as "64 steps"; without it a point is a single value. */
  readonly pointOf?: string | undefined;
  /** When each point of the traces ends: it is drawn as a column as wide as it lasted, never as a slope to the next. */
  readonly endsMs?: readonly number[];
  /** Stalls that a rule found, marked at the top of the chart. */
  readonly stalls?: Stalls | null;
  /** The devices that the traces are of, where there are several of one kind. */
  readonly devices?: Devices | null;
  /** The traces are stacked, each on top of the traces before it; only parts of the page with such a chart load what that needs. */
  readonly stacks?: Layers;
}

/** Up to this many cores are asked for one by one; above, the node's mean is used instead. */
export const kMostCores = 32;
const kMostLines = 5;
export const kNoSamples = "No samples in this span of time.";
/** Above this many nodes or GPUs the service folds the series of a metric into one. */
const kMostNodes = 16;
const kMostGpus = 40;

export type Source = readonly Series[];

export function seriesOf(source: Source, metric: string): readonly Series[] {
  return source.filter((series) => series.metric === metric && series.times_us.length > 0);
}

function line(series: readonly Series[], label: string, tone: number, how: Fold, column: "mean" | "sum" = "mean"): Trace {
  const aligned = align(series);
  // The highest sum of several series is not known: their highest values need not have come at one time.
  const peak = how === mean || (series.length === 1 && column === "mean") ? fold(aligned, "max", highest) : null;
  return { label, tone, timesMs: aligned.timesMs, mean: fold(aligned, column, how), low: null, high: null, peak };
}

/** The mean of `series` as one trace, with the lowest and highest values of `around` as its band. */
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

/** The number of measured series, also when the service folded them. */
export const countOf = (series: readonly Series[]) => series.reduce((total, { of: many }) => total + (many ?? 1), 0);

/** The traces of a metric. One series has a line with its band, a few have a line each, many have one mean with one band. */
export function spread(series: readonly Series[], one: string, what: "nodes" | "GPUs" | "ranks" | "series"): readonly Trace[] {
  const many = countOf(series);
  if (many === 0) return [];
  if (many === 1) return [banded(series, series, one)];
  if (many > kMostLines || many > series.length) return [banded(series, series, `Mean of ${many} ${what}`)];
  return series.map((each, tone) => line([each], nameOf(each), tone, mean));
}

/** The mean over all series of a row's first metric as one trace, whatever lines its chart has; null without samples. */
export function meanOfAll({ series }: Metrics, { metrics: [metric = ""] }: Row): Trace | null {
  const found = seriesOf(series, metric);
  return found.length === 0 ? null : line(found, "", 0, mean);
}

function cpuTraces(source: Source): readonly Trace[] {
  const nodes = seriesOf(source, "node_cpu_percent");
  const cores = seriesOf(source, "cpu_util_percent");
  if (countOf(nodes) !== 1) return spread(nodes, "CPU", "nodes");
  const wait = seriesOf(source, "node_iowait_percent").map((series) => line([series], "I/O wait", 1, mean));
  return [banded(nodes, cores.length > 0 ? cores : nodes, "In use"), ...wait];
}

/** A line for each metric: its series added up, or their mean. */
export const lines = (metrics: readonly string[], labels: readonly string[], how: Fold) => (source: Source): readonly Trace[] =>
  metrics.flatMap((metric, tone) => {
    const series = seriesOf(source, metric);
    const column = how === sum && series[0]?.sum ? "sum" : "mean";
    return series.length === 0 ? [] : [line(series, labels[tone] ?? metric, tone, how, column)];
  });

export interface Row {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly metrics: readonly string[];
  readonly traces: (source: Source) => readonly Trace[];
  readonly note: (source: Source) => string;
  /** The devices that the first metric is of. */
  readonly devices?: string;
  readonly rule?: readonly [rule: string, parameter: string, beyond: "above" | "below"];
  readonly gpu?: boolean;
  /** Not every node or GPU has these metrics: without samples there is no chart. */
  readonly rare?: boolean;
}

/** A chart of one metric with a line for each node, GPU or rank. */
export function perDevice(id: string, title: string, unit: string, metric: string, one: string, note: string, more: Partial<Row> = { gpu: true }): Row {
  const what = more.gpu ? "GPUs" : /^(process|rank)_/.test(metric) ? "ranks" : "nodes";
  return { id, title, unit, metrics: [metric], traces: (source) => spread(seriesOf(source, metric), one, what), note: () => note, devices: what, ...more };
}

function cpuNote(source: Source): string {
  const cores = seriesOf(source, "cpu_util_percent").length;
  if (countOf(seriesOf(source, "node_cpu_percent")) > 1) return "mean of each node's cores";
  return cores > 0 ? `mean of ${cores} cores, band from the lowest to the highest core` : "mean of all cores, band = min–max";
}

/** The rows that other parts of the page show, too; System has more (system/rows.ts). */
export const kGpuRow = perDevice("gpu", "GPU utilisation", "%", "gpu_util_percent", "GPU", "time in which any kernel ran",
  { gpu: true, rule: ["LowGPUUtilization", "threshold_p95", "below"] });
export const kCpuRow: Row = {
  id: "cpu", title: "CPU", unit: "%", metrics: ["node_cpu_percent", "node_iowait_percent"],
  traces: cpuTraces, note: cpuNote, devices: "nodes", rule: ["CPUBottleneck", "cpu_threshold", "above"],
};
export const kMemoryRow = perDevice("memory", "Memory", "%", "memory_used_percent", "In use", "of the node’s memory", {});

export const hasGpus = (job: Job) => job.nodes.some((node) => (node.gpus?.length ?? 0) > 0);

/** The charts of samples of a part of the page other than System, which is asked for its own. */
export function rowsOf(job: Job, tab: Tab): readonly Row[] {
  if (tab === "overview") return [...(hasGpus(job) ? [kGpuRow] : []), kCpuRow, kMemoryRow];
  return tab === "steps" ? [hasGpus(job) ? kGpuRow : kCpuRow] : [];
}

/** Whether one series of each metric is asked for, over all nodes and devices. */
export function isFolded(job: Job): boolean {
  const gpus = job.nodes.reduce((total, node) => total + (node.gpus?.length ?? 0), 0);
  return job.nodes.length > kMostNodes || gpus > kMostGpus;
}

/** The metrics that charts of these rows ask for, all in one call. */
export function metricsOf(job: Job, rows: readonly Row[]): readonly string[] {
  const asked = rows.flatMap((row) => row.metrics);
  const cores = job.nodes.reduce((total, node) => total + (node.cores ?? 0), 0);
  const each = job.nodes.length === 1 && cores <= kMostCores && asked.includes("node_cpu_percent") ? ["cpu_util_percent"] : [];
  return [...asked, ...each];
}

/** The threshold of the first Custom rule of the job that judges this metric. */
export function customThreshold(rules: readonly JudgedRule[], metric: string): Threshold | null {
  const custom = rules.find(({ rule, parameters }) => rule === "Custom" && parameters["metric"] === metric);
  const value = custom?.parameters["threshold"];
  if (custom === undefined || typeof value !== "number") return null;
  return { rule: custom.rule_configuration_name, value, beyond: custom.parameters["comparison"] === "below" ? "below" : "above" };
}

/** The time of which each point is the mean, where it is longer than that of a sample. */
export const binOf = ({ bin_us, interval_ms }: Metrics) => (bin_us > 1000 * interval_ms ? duration(bin_us / 1e6) : undefined);

/** Low is bad for a GPU, which should work, and high for anything else. */
function devicesOf(metrics: Metrics, { devices: what, metrics: [metric = ""], gpu }: Row): Devices | null {
  const series = seriesOf(metrics.series, metric);
  const many = countOf(series);
  if (what === undefined || many < 2) return null;
  return { metric, what, many, worst: gpu ? "lowest" : "highest", series: series.length === many ? series : [] };
}

function thresholdOf(rules: readonly JudgedRule[], row: Row): Threshold | null {
  const [only, ...others] = row.metrics;
  if (!row.rule) return only && others.length === 0 ? customThreshold(rules, only) : null;
  const [name, parameter, beyond] = row.rule;
  const value = rules.find((each) => each.rule === name)?.parameters[parameter];
  return typeof value === "number" ? { rule: name, value, beyond } : null;
}

function emptyReason(job: Job, metrics: Metrics, row: Row): string {
  const word = row.id.startsWith("gpu") ? "gpu" : row.id;
  const reasons = job.nodes.flatMap(({ name, absent }) =>
    (absent ?? []).filter(({ source }) => source.includes(word)).map(({ reason }) => `${name}: ${reason}`));
  if (reasons.length > 0) return reasons.join("; ");
  return metrics.series.length === 0 ? kNoSamples : "Not measured on these nodes.";
}

/** The traces of an answer, which several parts of the page draw. */
const made = new WeakMap<Metrics, Map<Row, readonly Trace[]>>();

function tracesOf(metrics: Metrics, row: Row): readonly Trace[] {
  const known = made.get(metrics) ?? new Map<Row, readonly Trace[]>();
  const traces = known.get(row) ?? row.traces(metrics.series);
  made.set(metrics, known.set(row, traces));
  return traces;
}

export function panelsOf(job: Job, metrics: Metrics, rules: readonly JudgedRule[], rows: readonly Row[]): readonly Panel[] {
  const there = rows.filter((row) => !row.rare || tracesOf(metrics, row).length > 0);
  return there.map((row) => ({
    id: row.id,
    title: row.title,
    unit: row.unit,
    note: row.note(metrics.series),
    traces: tracesOf(metrics, row),
    threshold: thresholdOf(rules, row),
    pointOf: binOf(metrics),
    devices: devicesOf(metrics, row),
    empty: emptyReason(job, metrics, row),
  }));
}
