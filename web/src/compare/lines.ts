import { duration, number, percent, share } from "../format";
import { valueOf } from "../query";
import type { Comparison, ComparedJob, ComparedSteps } from "./calls";

// The two runs as lines over one axis: what is drawn, and the sentence that says it.

/** A stretch with one value; null where nothing was measured. */
export interface Stair {
  readonly from: number;
  readonly to: number;
  readonly value: number | null;
}
export interface Overlay {
  readonly title: string;
  readonly note: string;
  readonly a: readonly Stair[];
  readonly b: readonly Stair[];
  readonly low: string; // words of the axis' ends
  readonly high: string;
  readonly top: number; // value of the upper edge; the lower one is 0
  readonly words: (value: number) => string;
  readonly sentence: string;
}

type Steps = NonNullable<ComparedSteps>;

/** What of one run lies over what of the other: the same step, the same time since the job began, or since its first step. */
export const kAligns = { step: "step number", time: "time since the job began", start: "time since the first step" } as const;
export type Align = keyof typeof kAligns;

export function alignOf(search: string): Align {
  const word = valueOf(search, "align");
  return Object.hasOwn(kAligns, word) ? (word as Align) : "step";
}

/** Mean step times as stairs over the number of the step or over seconds; none where these are not known. */
function stairsOf(steps: ComparedSteps, align: Align): readonly Stair[] {
  if (steps === null) return [];
  const { steps: numbers, mean_seconds: means, start_seconds: seconds } = steps.line;
  const newest = numbers.length - 1;
  const end = Math.max((numbers[0] ?? 0) + steps.steps, (numbers[newest] ?? 0) + 1);
  if (align === "step") return means.map((value, i) => ({ from: numbers[i] ?? 0, to: numbers[i + 1] ?? end, value }));
  if (seconds === null) return [];
  const first = align === "start" ? (seconds[0] ?? 0) : 0;
  const over = (seconds[newest] ?? 0) + (end - (numbers[newest] ?? 0)) * (means[newest] ?? 0);
  return means.map((value, i) => ({ from: (seconds[i] ?? 0) - first, to: (seconds[i + 1] ?? over) - first, value }));
}

const valuesOf = (stairs: readonly Stair[]) => stairs.flatMap(({ value }) => (value === null ? [] : [value]));

function spanOf(stairs: readonly Stair[], words: (value: number) => string): string {
  const values = valuesOf(stairs);
  return values.length === 0 ? "nothing known" : `${words(Math.min(...values))} to ${words(Math.max(...values))}`;
}

function overlayOf(part: Omit<Overlay, "sentence" | "top">, what: string, top: number | null = null, say = spanOf): Overlay | null {
  const all = valuesOf([...part.a, ...part.b]);
  if (all.length === 0) return null;
  return { ...part, top: top ?? (Math.max(...all) * 1.05 || 1), sentence: `${what}: A ${say(part.a, part.words)}, B ${say(part.b, part.words)}.` };
}

export function stepTimes({ steps }: Comparison, align: Align): Overlay | null {
  const [a, b] = [stairsOf(steps.a, align), stairsOf(steps.b, align)];
  const last = Math.max(...[...a, ...b].map(({ to }) => to));
  const [low, high] = align === "step" ? ["step 0", `step ${number(last)}`] : [align === "time" ? "start of the job" : "first step", duration(last)];
  return overlayOf({ title: "Step time", note: "means of adjacent steps of the first rank", a, b, low, high, words: duration }, "Means of adjacent steps");
}

/** Utilisation over the time since the jobs began or, where steps or their first one are aligned, over each run's own time. */
export function utilisation({ a, b }: Comparison, of: "gpu" | "cpu", align: Align): Overlay | null {
  const key = `${of}_util_percent` as const;
  const lengthOf = (job: ComparedJob) => (align === "time" ? (job.duration_seconds ?? 0) : 1);
  const stairs = (job: ComparedJob) => {
    const part = lengthOf(job) / job[key].length;
    return part > 0 ? job[key].map((value, i) => ({ from: i * part, to: (i + 1) * part, value })) : [];
  };
  const word = of.toUpperCase();
  const [note, low, high] = align === "time"
    ? ["utilisation since the job began, each run in 24 parts", "start of the job", duration(Math.max(lengthOf(a), lengthOf(b)))]
    : ["utilisation over each run’s own time, in 24 parts", "start", "end"];
  return overlayOf({ title: word, note, a: stairs(a), b: stairs(b), low, high, words: percent }, `Parts of a run: ${word} use`, 100);
}

const kBins = 40;

/** Where the bars of a histogram end that are as narrow as the others; the last one may reach to the longest step. */
function endOf({ edges_seconds: edges, counts }: Steps["histogram"]): number {
  const last = counts.length;
  const wide = (i: number) => (edges[i + 1] ?? 0) - (edges[i] ?? 0);
  return (last > 1 && wide(last - 1) > 1.5 * wide(0) ? edges[last - 1] : edges[last]) ?? 0;
}

/** The fullest bin in words. */
function mostOften(stairs: readonly Stair[], words: (value: number) => string): string {
  const [first, ...rest] = stairs;
  if (first === undefined) return "nothing known";
  const most = rest.reduce((one, each) => ((each.value ?? 0) > (one.value ?? 0) ? each : one), first);
  return `${duration(most.from)} to ${duration(most.to)} (${words(most.value ?? 0)})`;
}

/** The share of the steps in each of equal bins from low to high, as if steps were spread evenly within their own bars. */
export function binned({ edges_seconds: edges, counts }: Steps["histogram"], low: number, high: number): readonly Stair[] {
  const all = counts.reduce((sum, each) => sum + each, 0);
  const wide = (high - low) / kBins;
  const bins: number[] = Array.from({ length: kBins }, () => 0);
  counts.forEach((many, i) => {
    const [from, to] = [edges[i] ?? 0, edges[i + 1] ?? 0];
    bins.forEach((_, j) => {
      const [left, right] = [low + j * wide, low + (j + 1) * wide];
      const within = to > from ? Math.max(0, Math.min(to, right) - Math.max(from, left)) / (to - from) : from >= left && (from < right || j === kBins - 1) && from <= high ? 1 : 0;
      bins[j] = (bins[j] ?? 0) + (many * within) / Math.max(1, all);
    });
  });
  return bins.map((value, j) => ({ from: low + j * wide, to: low + (j + 1) * wide, value }));
}

export function howOften({ steps: { a, b } }: Comparison): Overlay | null {
  const known = [a, b].flatMap((steps) => (steps === null || steps.histogram.counts.length === 0 ? [] : [steps.histogram]));
  if (known.length === 0) return null;
  const low = Math.min(...known.map(({ edges_seconds: edges }) => edges[0] ?? 0));
  const high = Math.max(...known.map(endOf));
  if (high <= low) return null;
  const bins = (steps: ComparedSteps) => (steps === null ? [] : binned(steps.histogram, low, high));
  return overlayOf({ title: "How often a step took how long", note: "share of each run’s steps, in the same bins", a: bins(a), b: bins(b), low: duration(low), high: duration(high), words: share }, "Most often a step took", null, mostOften);
}

/** The stairs as a path in a box of 1000 by 100; a gap breaks the line. */
export function pathOf(stairs: readonly Stair[], { from, to, top }: { readonly from: number; readonly to: number; readonly top: number }): string {
  const x = (at: number) => ((1000 * (at - from)) / (to - from)).toFixed(1);
  let path = "";
  let joined = false;
  for (const { from: left, to: right, value } of stairs) {
    if (value !== null) path += `${joined ? "V" : `M${x(left)} `}${(100 - (100 * value) / top).toFixed(2)}H${x(right)}`;
    joined = value !== null;
  }
  return path;
}
