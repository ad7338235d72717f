import { duration, instant, metric, percent, type TimeZone } from "../format";
import type { Panel, Threshold } from "./panels";
import type { Trace } from "./traces";
import type { Span } from "./view";

// A sentence with numbers for each chart: it is the caption, and screen readers read it in place of the canvas.

interface Figures {
  readonly mean: number;
  readonly top: number;
  readonly topAtMs: number;
  readonly beyondShare: number;
}

/** The highest value within each point of a trace; its mean where no higher one is known. */
const topsOf = ({ high, peak, mean }: Trace) => high ?? peak ?? mean;

function figuresOf(trace: Trace, span: Span, threshold: Threshold | null): Figures | null {
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

export function meanOf(trace: Trace, span: Span): number | null {
  return figuresOf(trace, span, null)?.mean ?? null;
}

/** The time in which nothing was measured inside the span, between its first and last sample. */
export function gapsMs(trace: Trace, span: Span): number {
  let gaps = 0;
  let last: number | null = null;
  let open = false;
  trace.timesMs.forEach((ms, i) => {
    if (ms < span.fromMs || ms > span.toMs) return;
    if ((trace.mean[i] ?? null) === null) {
      open = true;
      return;
    }
    if (open && last !== null) gaps += ms - last;
    [open, last] = [false, ms];
  });
  return gaps;
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

/** A sentence about the three largest layers of a stacked chart; the legend has them all. */
function layersOf({ traces, unit }: Panel, span: Span): string {
  const means = traces.map((trace) => [trace.label, meanOf(trace, span)] as const).filter(([, mean]) => mean !== null);
  if (means.length === 0) return "No steps here.";
  const words = means.sort(([, a], [, b]) => (b ?? 0) - (a ?? 0)).slice(0, 3).map(([label, mean]) => `${label} ${metric(mean, unit)}`);
  return `Most of the time: ${words.join(", ")}.`;
}

export function summaryOf(panel: Panel, span: Span, zone: TimeZone, start: number): string {
  const [first] = panel.traces;
  if (!first) return panel.empty;
  if (panel.stacks) return layersOf(panel, span);
  const clauses = panel.traces.map((trace) => clause(trace, panel, span, zone, start));
  const gaps = panel.sparse ? 0 : gapsMs(first, span);
  if (gaps > 0) clauses.push(`nothing measured for ${duration(gaps / 1000)}`);
  return `${clauses.join("; ")}.`;
}
