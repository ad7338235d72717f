import type { Metrics } from "../model";

// Metrics of the user's own: `user.` and a name, from the training, its output, or anyone's samples.

export interface OwnMetrics {
  readonly drawn: readonly string[];
  /** Known, but too many for charts. */
  readonly rest: readonly string[];
}

/** How many series each of the job's own metrics has. */
export type Known = ReadonlyMap<string, number>;

const kPrefix = "user.";
export const kMostDrawn = 24;
/** All charts of a page are one call, and an answer has at most 2,000 series. */
const kMostSeries = 400;

/** What was known with what is in an answer with one folded series of each metric. */
export function withAnswer(known: Known, { series }: Metrics): Known {
  const all = new Map(known);
  for (const { metric, of: many } of series) {
    if (metric.startsWith(kPrefix)) all.set(metric, Math.max(many ?? 1, all.get(metric) ?? 0));
  }
  return all;
}

/** The first by name, as far as there is room; `folded`: each is one series. */
export function chooseOwn(known: Known, folded: boolean): OwnMetrics {
  const names = [...known.keys()].sort();
  let left = kMostSeries;
  const drawn: string[] = [];
  for (const name of names) {
    const many = folded ? 1 : (known.get(name) ?? 1);
    if (drawn.length === kMostDrawn || many > left) continue;
    drawn.push(name);
    left -= many;
  }
  return { drawn, rest: names.filter((name) => !drawn.includes(name)) };
}
