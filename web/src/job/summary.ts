import { duration, instant, metric, percent, type TimeZone } from "../format";
import { type Devices, nameOf } from "./devices";
import type { Panel, Threshold } from "./panels";
import type { Trace } from "./traces";
import type { DueSpan, Span } from "./view";

// A sentence with numbers for each chart: it is the caption, and screen readers read it in place of the canvas.

type Measured = Pick<Trace, "timesMs" | "mean"> & Partial<Trace>;

interface Figures {
  readonly mean: number;
  readonly top: number;
  readonly topAtMs: number;
  readonly beyondShare: number;
}

/** The highest value within each point of a trace; its mean where no higher one is known. */
const topsOf = ({ high, peak, mean }: Measured) => high ?? peak ?? mean;

function figuresOf(trace: Measured, span: Span, threshold: Threshold | null): Figures | null {
  let total = 0;
  let weight = 0;
  let many = 0;
  let beyond = 0;
  let top = -Infinity;
  let topAtMs = 0;
  const tops = topsOf(trace);
  trace.timesMs.forEach((ms, i) => {
    const value = trace.mean[i] ?? null;
    if (value === null || ms < span.fromMs || ms > span.toMs) return;
    const counts = trace.weight ? (trace.weight[i] ?? 0) : 1;
    total += value * counts;
    weight += counts;
    many += 1;
    if (threshold && (threshold.beyond === "above" ? value > threshold.value : value < threshold.value)) beyond += 1;
    const highest = tops[i] ?? value;
    if (highest > top) [top, topAtMs] = [highest, ms];
  });
  return weight === 0 ? null : { mean: total / weight, top, topAtMs, beyondShare: beyond / many };
}

export function meanOf(trace: Measured, span: Span): number | null {
  return figuresOf(trace, span, null)?.mean ?? null;
}

/** The least time between two points of a trace; the points of one answer lie on one grid. */
function gridMs(timesMs: readonly number[]): number {
  return timesMs.reduce((least, ms, i) => (i === 0 ? least : Math.min(least, ms - (timesMs[i - 1] ?? 0))), Infinity);
}

const kOnTheWayMs = 5000; // samples of the end may be missing for so long

/** Until when the last sample of a trace counts: until `dueMs`, unless several more should have come since. */
export function lastEndMs(timesMs: readonly number[], lastMs: number, dueMs: number): number {
  const grid = gridMs(timesMs);
  return dueMs - lastMs > Math.max(3 * grid, kOnTheWayMs) ? lastMs + grid : dueMs;
}

/** The stretches in which nothing was measured, after the first sample and until `dueMs`, when samples should have come. */
export function gapsOf({ timesMs, mean }: Pick<Trace, "timesMs" | "mean">, dueMs: number): readonly (readonly [number, number])[] {
  const gaps: [number, number][] = [];
  let last: number | null = null;
  let open = false;
  timesMs.forEach((ms, i) => {
    if ((mean[i] ?? null) === null) {
      open = true;
      return;
    }
    if (open && last !== null) gaps.push([last, ms]);
    [open, last] = [false, ms];
  });
  if (last !== null && lastEndMs(timesMs, last, dueMs) < dueMs) gaps.push([last, dueMs]);
  return gaps;
}

/** The time inside the span in which nothing was measured. */
export function gapsMs(trace: Trace, { fromMs, toMs, dueMs = toMs }: DueSpan): number {
  return gapsOf(trace, Math.min(dueMs, toMs)).reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, toMs) - Math.max(from, fromMs)), 0);
}

function clause(trace: Trace, panel: Panel, span: Span, zone: TimeZone, start: number): string {
  const threshold = trace.tone === 0 ? panel.threshold : null;
  const figures = figuresOf(trace, span, threshold);
  if (figures === null) return `${trace.label}: no samples here`;
  const at = instant(figures.topAtMs, start, zone);
  const parts = [`mean ${metric(figures.mean, panel.unit)}`];
  if (threshold) {
    const limit = metric(threshold.value, panel.unit);
    parts.push(`${threshold.beyond} ${limit} for ${percent(figures.beyondShare * 100)} of the time`);
  }
  // The mean of many values is lower than the highest of them.
  const meanOnly = panel.pointOf !== undefined && topsOf(trace) === trace.mean;
  parts.push(`highest ${meanOnly ? `mean of ${panel.pointOf} ` : ""}${metric(figures.top, panel.unit)} at ${at}`);
  return `${trace.label}: ${parts.join(", ")}`;
}

interface Device {
  readonly name: string;
  readonly mean: number;
}

/** The devices with samples in the span, the worst first. */
export function worstFirst({ series, worst }: Devices, span: Span): readonly Device[] {
  const known = series.flatMap((each) => {
    const mean = meanOf({ timesMs: each.times_us.map((us) => us / 1000), mean: each.mean }, span);
    return mean === null ? [] : [{ name: nameOf(each), mean }];
  });
  return known.sort((a, b) => (worst === "lowest" ? a.mean - b.mean : b.mean - a.mean));
}

/** The lines in the order of the legend: those of devices worst first, so that a dead one is seen; others as they are drawn. */
export function legendOrder({ traces, devices }: Panel, span: Span): readonly Trace[] {
  if (!devices || traces.length < 2) return traces;
  const turn = devices.worst === "lowest" ? 1 : -1;
  const key = (trace: Trace) => turn * (meanOf(trace, span) ?? -turn * Infinity);
  return [...traces].sort((a, b) => key(a) - key(b) || 0);
}

/** The worst and the best device behind a mean of many; nothing where each has a line or the service told of none. */
export function endsOfRange({ devices, traces, unit }: Panel, span: Span): string {
  if (!devices || traces.length !== 1) return "";
  const all = worstFirst(devices, span);
  const [worst, best] = [all[0], all[all.length - 1]];
  if (!worst || !best) return "";
  const words = ({ name, mean }: Device) => `${name}: ${metric(mean, unit)}`;
  return devices.worst === "lowest" ? `lowest mean ${words(worst)}, highest ${words(best)}` : `highest mean ${words(worst)}, lowest ${words(best)}`;
}

export function summaryOf(panel: Panel, span: DueSpan, zone: TimeZone, start: number): string {
  const [first] = panel.traces;
  if (!first) return panel.empty;
  if (panel.stacks) return panel.stacks.sentence(panel, span);
  const clauses = panel.traces.map((trace) => clause(trace, panel, span, zone, start));
  const range = endsOfRange(panel, span);
  if (range !== "") clauses.push(range);
  const gaps = panel.sparse ? 0 : gapsMs(first, span);
  if (gaps > 0) clauses.push(`nothing measured for ${duration(gaps / 1000)}`);
  return `${clauses.join("; ")}.`;
}
