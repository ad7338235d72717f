import type { Series } from "../model";

// The GPUs or nodes behind a chart: which of them is the worst, and how far they lie apart. A line that is the mean of many hides one
// that does nothing.

export interface Devices {
  readonly metric: string;
  readonly what: string;
  readonly many: number;
  /** The end of the range at which a device is worst. */
  readonly worst: "lowest" | "highest";
  /** The series of each device; none where the service folded them into one. */
  readonly series: readonly Series[];
}

export const nameOf = ({ node, device }: Series) => (device === "" ? node : `${node} ${device}`);

/** Whether the heat map offers the metric. */
export const isMapped = (metric: string) => /^(gpu_(util|memory_used)_percent|gpu_power_watts|node_cpu_percent|memory_used_percent)$/.test(metric);
