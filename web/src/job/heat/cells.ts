import type { Heatmap, Job } from "../../model";
import type { Span } from "../view";

// The numbers behind a heat map: the rows in the order that the reader chose, each with its mean and extremes.

export const kNoValue = 255;
/** The service refuses more rows than these; then one node is shown. */
export const kMostRows = 2000;

export interface HeatRow {
  readonly name: string;
  readonly node: string;
  /** The bytes of the row's cells; kNoValue where nothing was measured. */
  readonly cells: Uint8Array;
  readonly mean: number | null;
  /** The lowest and the highest cell, each of which is a mean. */
  readonly least: number | null;
  readonly most: number | null;
}

export type HeatOrder = "node" | "mean";

/** The value that a byte stands for, in the metric's unit; null where nothing was measured. */
export function valueOfByte(byte: number | undefined, { low, high }: Pick<Heatmap, "low" | "high">): number | null {
  return byte === undefined || byte === kNoValue ? null : low + (byte * (high - low)) / 254;
}

/** The bytes of a text in base64; none where it is something else. */
function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

/** The part of each column that lies in the span, from 0 to 1: the first bin begins before the job and the last ends behind it. */
export function columnWeights({ times_us, bin_us }: Heatmap, { fromMs, toMs }: Span): readonly number[] {
  const within = times_us.map((us) => Math.max(0, Math.min((us + bin_us) / 1000, toMs) - Math.max(us / 1000, fromMs)) / (bin_us / 1000));
  return within.some((part) => part > 0) ? within : times_us.map(() => 1);
}

/** The mean over time of the mean of all rows, as the figure of the overview is made; null where nothing was measured. */
export function overallMean(rows: readonly HeatRow[], weights: readonly number[], map: Heatmap): number | null {
  let [sum, weight] = [0, 0];
  weights.forEach((part, column) => {
    const known = rows.flatMap(({ cells }) => (cells[column] === undefined || cells[column] === kNoValue ? [] : [cells[column]]));
    if (known.length === 0) return;
    sum += (part * known.reduce((all, byte) => all + byte, 0)) / known.length;
    weight += part;
  });
  return weight > 0 ? valueOfByte(sum / weight, map) : null;
}

function rowOf(name: string, node: string, cells: Uint8Array, map: Heatmap, weights: readonly number[]): HeatRow {
  const known = [...cells].filter((byte) => byte !== kNoValue);
  const value = (byte: number) => valueOfByte(byte, map);
  if (known.length === 0) return { name, node, cells, mean: null, least: null, most: null };
  let [sum, weight] = [0, 0];
  cells.forEach((byte, column) => {
    if (byte === kNoValue) return;
    sum += byte * (weights[column] ?? 0);
    weight += weights[column] ?? 0;
  });
  const mean = weight > 0 ? sum / weight : known.reduce((all, byte) => all + byte, 0) / known.length;
  return { name, node, cells, mean: value(mean), least: value(Math.min(...known)), most: value(Math.max(...known)) };
}

/** The rows of an answer. A matrix that is too short for its rows gives rows without values, never those of others. */
export function rowsOf(map: Heatmap, order: HeatOrder, weights: readonly number[] = map.times_us.map(() => 1)): readonly HeatRow[] {
  const bytes = bytesOf(map.matrix);
  const columns = map.times_us.length;
  const rows = map.rows.map(({ node, device }, i) => {
    const cells = new Uint8Array(columns).fill(kNoValue);
    cells.set(bytes.subarray(i * columns, Math.min(bytes.length, (i + 1) * columns)));
    return rowOf(device === "" ? node : `${node} ${device}`, node, cells, map, weights);
  });
  return order === "node" ? rows : rows.sort((a, b) => (a.mean ?? Infinity) - (b.mean ?? Infinity));
}

export interface HeatMetric {
  readonly metric: string;
  readonly word: string;
}

const kGpu: readonly HeatMetric[] = [
  { metric: "gpu_util_percent", word: "GPU utilisation" },
  { metric: "gpu_memory_used_percent", word: "GPU memory" },
  { metric: "gpu_power_watts", word: "GPU power" },
];
const kAll: readonly HeatMetric[] = [
  { metric: "cpu_util_percent", word: "CPU cores" },
  { metric: "node_cpu_percent", word: "CPU of nodes" },
  { metric: "memory_used_percent", word: "Memory of nodes" },
  { metric: "node_iowait_percent", word: "I/O wait of nodes" },
];

/** Whether two metrics have the same rows, so that a cell of the one is there for the other, too. */
export function sameRows(a: string, b: string): boolean {
  const kind = (metric: string) => (metric.startsWith("gpu_") ? "gpu" : metric === "cpu_util_percent" ? "core" : "node");
  return kind(a) === kind(b);
}

const gpusOf = (job: Job) => job.nodes.reduce((sum, { gpus }) => sum + (gpus?.length ?? 0), 0);

/** The metrics that a job's heat map offers, the first is shown unless the link names another one. */
export function heatMetrics(job: Job): readonly HeatMetric[] {
  return gpusOf(job) > 0 ? [...kGpu, ...kAll] : kAll;
}

/** The node that must be chosen because all have too many rows together; null when all can be shown. */
export function forcedNode(job: Job, metric: string): string | null {
  const many = metric === "cpu_util_percent" ? job.nodes.reduce((sum, { cores }) => sum + (cores ?? 0), 0) : metric.startsWith("gpu_") ? gpusOf(job) : job.nodes.length;
  return many > kMostRows ? (job.nodes[0]?.name ?? null) : null;
}
