import { instant, type TimeZone } from "../format";
import type { Job, Metrics, Steps } from "../model";
import { numberOf } from "../query";
import { search, setKeys } from "../router";

// The span of time on screen. All charts of a page show the same one, and the link carries it: `from`
// and `to` in ms from the job's start.

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A span, and until when samples should have come: the newest of a running job are on their way. */
export interface DueSpan extends Span {
  readonly dueMs?: number;
}

const kLeastMs = 1000;

export function startMs(job: Job): number {
  return (job.started_us ?? job.created_us) / 1000;
}

export function isRunning(job: Job): boolean {
  return job.status === "InProgress" || job.status === "Stopping";
}

/** The time before which samples were removed, when the span begins before it. */
export function removedUntilUs(job: Job, span: Span): number | null {
  const us = job.samples_from_us;
  return us !== null && span.fromMs < us / 1000 ? us : null;
}

/** The zoom of a link, as ms from the job's start; null shows the whole job. */
export function zoomOf(query: string): Span | null {
  const fromMs = numberOf(query, "from");
  const toMs = numberOf(query, "to");
  return fromMs !== null && toMs !== null && toMs - fromMs >= kLeastMs / 10 ? { fromMs, toMs } : null;
}

function lastOf(times: readonly number[]): number {
  return (times[times.length - 1] ?? 0) / 1000;
}

/** The whole job, in ms since the epoch; while it runs, up to the newest sample. */
export function wholeOf(job: Job, metrics: Metrics | null, steps: Steps | null): Span {
  const fromMs = startMs(job);
  const ends = (metrics?.series ?? []).map((series) => lastOf(series.times_us));
  const starts = (steps?.ranks ?? []).map((rank) => lastOf(rank.series.start_us));
  const seen = job.ended_us === null ? job.nodes.map(({ last_seen_us }) => (last_seen_us ?? 0) / 1000) : [];
  const toMs = Math.max(fromMs + 10 * kLeastMs, (job.ended_us ?? 0) / 1000, ...ends, ...starts, ...seen);
  return { fromMs, toMs };
}

const kOnTheWayMs = 15_000;

/** Until when samples should have come: to the end of a job that has ended, else nearly as far as the answer goes. */
export function dueOf(job: Job, metrics: Metrics | null, whole: Span): number {
  return isRunning(job) ? (metrics?.to_us ?? 0) / 1000 - kOnTheWayMs : whole.toMs;
}

export function shownOf(query: string, job: Job, whole: Span): Span {
  const zoom = zoomOf(query);
  if (zoom === null) return whole;
  return { fromMs: startMs(job) + zoom.fromMs, toMs: startMs(job) + zoom.toMs };
}

export function resetZoom(): void {
  setKeys({ from: null, to: null });
}

const kOneZoomMs = 1000;
let steppedAt = -Infinity;

/** Whether a zoom by a key or the wheel goes on with the one before it, less than a second ago: then both are one entry of the history. */
export function goesOn(atMs: number): boolean {
  const [before, since] = [steppedAt, atMs - steppedAt];
  steppedAt = atMs;
  return before > -Infinity && since >= 0 && since < kOneZoomMs;
}

/** Shows a span (ms since the epoch), as one step of the history unless it replaces the last. Covering the whole job is no zoom. */
export function zoomTo(job: Job, whole: Span, wanted: Span, replace = false): void {
  const half = Math.max(kLeastMs, wanted.toMs - wanted.fromMs) / 2;
  const middle = (wanted.fromMs + wanted.toMs) / 2;
  const fromMs = Math.max(whole.fromMs, middle - half);
  const toMs = Math.min(whole.toMs, middle + half);
  if (fromMs <= whole.fromMs && toMs >= whole.toMs) return setKeys({ from: null, to: null }, replace);
  const start = startMs(job);
  setKeys({ from: String(Math.round(fromMs - start)), to: String(Math.round(toMs - start)) }, replace);
}

/** A span in words, with the decimals that tell its ends apart. */
export function spanWords({ fromMs, toMs }: Span, start: number, zone: TimeZone): string {
  const decimals = toMs - fromMs < 1000 ? 2 : toMs - fromMs < 5000 ? 1 : 0;
  return `${instant(fromMs, start, zone, decimals)} to ${instant(toMs, start, zone, decimals)}`;
}

/** Zooms around an instant; `by` 2 shows twice as much. */
export function zoomBy(job: Job, whole: Span, by: number, aroundMs?: number, replace = false): void {
  const shown = shownOf(search.peek(), job, whole);
  const middle = aroundMs ?? (shown.fromMs + shown.toMs) / 2;
  const part = (middle - shown.fromMs) / (shown.toMs - shown.fromMs);
  const width = (shown.toMs - shown.fromMs) * by;
  zoomTo(job, whole, { fromMs: middle - width * part, toMs: middle + width * (1 - part) }, replace);
}
