import type { components } from "../openapi";

// The rows of the use of nodes, and their order.

export type Usage = components["schemas"]["Usage"];
type Row = Usage["rows"][number];

export const kColumns = ["max", "p99", "p95", "p50", "min"] as const;
export type Column = "node" | (typeof kColumns)[number];

/** The metrics in their order with their words; of a GPU little use is worst, of anything else much. */
export const kWords: Readonly<Record<string, string>> = {
  gpu_util_percent: "GPU", gpu_memory_used_percent: "GPU memory", node_cpu_percent: "CPU", node_iowait_percent: "I/O wait",
  memory_used_percent: "Memory", network_receive_bytes_per_second: "Network in", network_send_bytes_per_second: "Network out",
};
const kOrder = Object.keys(kWords);
const isLowWorst = (metric: string) => metric === "gpu_util_percent";

/** The rows by metric, and those of each metric by a column: nodes as they came, numbers with the worst first. */
export function ordered(rows: readonly Row[], column: Column): readonly Row[] {
  const place = ({ metric }: Row) => (kOrder.indexOf(metric) + kOrder.length + 1) % (kOrder.length + 1); // others last
  return [...rows].sort((a, b) => {
    if (place(a) !== place(b) || column === "node") return place(a) - place(b);
    return (isLowWorst(a.metric) ? 1 : -1) * (a[column] - b[column]);
  });
}

/** The node whose median is the worst of a metric, where several have it. */
export function worstNode(rows: readonly Row[], metric: string): string | null {
  const [first, second] = ordered(rows.filter((row) => row.metric === metric), "p50");
  return first !== undefined && second !== undefined && first.p50 !== second.p50 ? first.node : null;
}
