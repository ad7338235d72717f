import type { Metrics, Series } from "./model";

// The service writes neighbouring bins as one run, because their times would be two thirds of an answer.

/** The begin of the run's first bin in microseconds, and its number of bins. */
type Run = readonly [number, number];

export interface SentMetrics extends Omit<Metrics, "series"> {
  readonly series: readonly (Omit<Series, "times_us"> & { readonly runs: readonly Run[] })[];
}

function timesOf(runs: readonly Run[], binUs: number): number[] {
  return runs.flatMap(([beginUs, bins]) => Array.from({ length: bins }, (_, i) => beginUs + i * binUs));
}

/** The answer with the time of each bin. */
export function withTimes(sent: SentMetrics): Metrics {
  const series = sent.series.map(({ runs, ...one }) => ({ ...one, times_us: timesOf(runs, sent.bin_us) }));
  return { ...sent, series };
}
