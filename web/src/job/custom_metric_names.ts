import type { Metrics } from "../model";

// Metrics of the user's own: `user.` and a name, from the training, its output, or anyone's samples.

export interface CustomMetricNames {
  readonly charted: readonly string[];
  /** Known, but too many for charts. */
  readonly uncharted: readonly string[];
}

/** How many series each of the job's own metrics has. */
export type SeriesCounts = ReadonlyMap<string, number>;

const kPrefix = "user.";
export const kMostCharted = 24;
/** All charts of a page are one call, and an answer has at most 2,000 series. */
const kMostSeries = 400;

/** What was known with what is in an answer with one folded series of each metric. */
export function withAnswer(known: SeriesCounts, { series }: Metrics): SeriesCounts {
  const all = new Map(known);
  for (const { metric, of: many } of series) {
    if (metric.startsWith(kPrefix)) all.set(metric, Math.max(many ?? 1, all.get(metric) ?? 0));
  }
  return all;
}

/** The first by name, as far as there is room; `folded`: each is one series. */
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
