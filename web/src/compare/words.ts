import { number, percent } from "../format";
import type { JobItem } from "../model";
import type { Comparison, StepChange } from "./calls";

// What a comparison says, in words.

const size = (value: number | null) => percent(value === null ? null : Math.abs(value));

/** How b's steps compare with a's, in one sentence. */
export function headlineOf({ a, b, steps: { change } }: Pick<Comparison, "a" | "b" | "steps">): string {
  const { verdict, percent: by } = change;
  if (verdict === "not enough data") return "Not enough data: each run needs 20 steps at least.";
  if (verdict === "no clear difference") return `No clear difference between the step times of ${a.name} and ${b.name}.`;
  const times = by === null ? 1 : 1 / (1 + by / 100);
  const much = verdict === "faster" && times >= 1.5 && Number.isFinite(times) ? `, ${times.toFixed(1)} times as fast` : "";
  return `The steps of ${b.name} take ${size(by)} ${verdict === "faster" ? "less" : "more"} time than those of ${a.name}${much}.`;
}

/** How sure that is. */
export function certaintyOf({ verdict, percent: by, low_percent: low, high_percent: high, noise_percent: noise, material }: StepChange): string {
  if (verdict === "not enough data") return "";
  const way = (by ?? 0) < 0 ? "less" : "more";
  const bounds = low !== null && high !== null && low * high > 0
    ? `between ${size(Math.abs(low) < Math.abs(high) ? low : high)} and ${size(Math.abs(low) < Math.abs(high) ? high : low)} ${way}`
    : `between ${size(low)} less and ${size(high)} more`;
  const matters = verdict === "no clear difference" ? "" : material ? " That matters." : " That is worth a look, not more.";
  return `With 95 % confidence ${bounds} time a step; parts of one run differ by ${size(noise)}.${matters}`;
}

/** The change from one number to another, in words; the sense of it is up to the reader. */
export function changeOf(a: number | null, b: number | null): string {
  if (a === null || b === null) return a === b ? "" : a === null ? "only in B" : "only in A";
  if (a === 0 || a === b) return a === b ? "the same" : "";
  const by = 100 * (b / a - 1);
  if (b / a >= 3) return `▲ ${number(b / a)} times as much`;
  return Math.abs(by) < 0.5 ? "the same" : `${by > 0 ? "▲" : "▼"} ${size(by)} ${by > 0 ? "more" : "less"}`;
}

/** The run of the same group that was created last before this one. */
export function runBefore(runs: readonly JobItem[], name: string): string | null {
  const self = runs.find((run) => run.name === name);
  const before = runs.filter((run) => run.name !== name && (self === undefined || run.created_us < self.created_us));
  return [...before].sort((a, b) => b.created_us - a.created_us)[0]?.name ?? null;
}
