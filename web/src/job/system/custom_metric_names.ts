import type { Metrics } from "../../model";

// Custom metrics are named `user.` and a name; they come from the training, its output, or the API.

export interface CustomMetricNames {
  readonly charted: readonly string[];
  /** Further metrics, which are too many for charts. */
  readonly uncharted: readonly string[];
}

/** The number of series of each custom metric. */
export type SeriesCounts = ReadonlyMap<string, number>;

const kPrefix = "user.";
export const kMostCharted = 23;
/** The limit for custom metrics: all charts of a page are one call, and an answer has at most 2,000 series. */
const kMostSeries = 400;

/** The known metrics, extended by an answer that has one folded series of each metric. */
export function withAnswer(known: SeriesCounts, { series }: Metrics): SeriesCounts {
  const all = new Map(known);
  for (const { metric, of: many } of series) {
    if (metric.startsWith(kPrefix)) all.set(metric, Math.max(many ?? 1, all.get(metric) ?? 0));
  }
  return all;
}

/** Gives charts to the first metrics by name, as far as there is room; `folded`: each metric is one series. */
export function chooseCharted(known: SeriesCounts, folded: boolean): CustomMetricNames {
  const names = [...known.keys()].sort();
  let left = kMostSeries;
  const charted: string[] = [];
  for (const name of names) {
    const many = folded ? 1 : (known.get(name) ?? 1);
    if (charted.length === kMostCharted || many > left) continue;
    charted.push(name);
    left -= many;
  }
  return { charted, uncharted: names.filter((name) => !charted.includes(name)) };
}
