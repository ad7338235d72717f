import type { Metrics, Series, Values } from "../model";

// From the columns of the service to the lines of a chart. Nothing is joined that was not measured:
// a gap stays null.

export interface Trace {
  readonly label: string;
  readonly tone: number; // colour of the palette; -1 is neutral
  readonly timesMs: readonly number[];
  readonly mean: Values;
  readonly low: Values | null;
  readonly high: Values | null;
  /** The highest value within each point, where it is known and there is no band. */
  readonly peak?: Values | null;
  readonly filled?: boolean;
  readonly striped?: boolean;
  /** The weight of each value in a mean; without weights all count the same. */
  readonly weight?: Values;
  readonly dashed?: boolean;
}

type Column = "min" | "mean" | "max" | "sum";

export interface Aligned {
  readonly timesMs: readonly number[];
  /** The values of one column of every series at one of `timesMs`, without the gaps. */
  readonly at: (row: number, column: Column) => readonly number[];
}

const equal = (a: readonly number[], b: readonly number[]) => a === b || (a.length === b.length && a.every((us, i) => us === b[i]));

/** Puts series on one time axis. The bins of one answer lie on one grid, so equal times meet. */
export function align(series: readonly Series[]): Aligned {
  const first = series[0]?.times_us ?? [];
  // Mostly all series have the same times: then a row of the axis is a row of each of them.
  const same = series.every(({ times_us }) => equal(times_us, first));
  const timesUs = same ? first : [...new Set(series.flatMap(({ times_us }) => times_us))].sort((a, b) => a - b);
  const places = same ? null : series.map(({ times_us }) => new Map(times_us.map((us, i) => [us, i])));
  const at = (row: number, column: Column) => {
    const values: number[] = [];
    series.forEach((one, i) => {
      const place = places === null ? row : places[i]?.get(timesUs[row] ?? NaN);
      const value = place === undefined ? null : one[column]?.[place] ?? null;
      if (value !== null) values.push(value);
    });
    return values;
  };
  return { timesMs: timesUs.map((us) => us / 1000), at };
}

export type Fold = (values: readonly number[]) => number;
export const sum: Fold = (values) => {
  let total = 0;
  for (const value of values) total += value;
  return total;
};
export const mean: Fold = (values) => sum(values) / values.length;
export const lowest: Fold = (values) => Math.min(...values);
export const highest: Fold = (values) => Math.max(...values);

/** Folds one column of many series into one; null where none of them was measured. */
export function fold(aligned: Aligned, column: Column, how: Fold): (number | null)[] {
  return aligned.timesMs.map((_, row) => {
    const values = aligned.at(row, column);
    return values.length === 0 ? null : how(values);
  });
}

const keyOf = ({ metric, node, device }: Series) => `${metric}\n${node}\n${device}`;

type Join = <T>(a: readonly T[], b: readonly T[]) => readonly T[];

/** The number of folded series never shrinks: a series that is silent for a while still belongs to the fold. */
function foldOf(old: Series, add: Series, join: Join): Partial<Series> {
  if (old.of === undefined || add.of === undefined) return {};
  return { of: Math.max(old.of, add.of), sum: join(old.sum ?? [], add.sum ?? []) };
}

/** The shown series continued by a new answer, whose first bin replaces the bin that was still filling. */
export function append(shown: Metrics, more: Metrics): Metrics {
  const news = new Map(more.series.map((series) => [keyOf(series), series]));
  const series = shown.series.map((old) => {
    const add = news.get(keyOf(old));
    news.delete(keyOf(old));
    const first = add?.times_us[0];
    if (!add || first === undefined) return old;
    const end = old.times_us.findIndex((us) => us >= first);
    const keep = end < 0 ? old.times_us.length : end;
    const join = <T>(a: readonly T[], b: readonly T[]): readonly T[] => [...a.slice(0, keep), ...b];
    return {
      ...old,
      times_us: join(old.times_us, add.times_us),
      min: join(old.min, add.min),
      mean: join(old.mean, add.mean),
      max: join(old.max, add.max),
      ...foldOf(old, add, join),
    };
  });
  return { ...more, from_us: shown.from_us, series: [...series, ...news.values()] };
}
