import { useMemo } from "preact/hooks";
import type { TimeZone } from "../format";
import { useShortcuts } from "../keys";
import type { Job, Metrics, RankSteps, Steps } from "../model";
import { numberOf } from "../query";
import { search, setKeys } from "../router";
import { zoneOf } from "../settings";
import type { ChartProps } from "./chart";
import { type JobData, paused } from "./data";
import { rankShown } from "./steps/step_panels";
import { toggleLive } from "./toolbar";
import { dueOf, goesOn, isRunning, resetZoom, shownOf, type Span, startMs, wholeOf, zoomBy, zoomOf, zoomTo } from "./view";

// The view that the parts of a job's page share: the link decides the span of time, the rank and the zone.

export interface View {
  readonly job: Job;
  readonly data: JobData;
  readonly metrics: Metrics | null;
  readonly steps: Steps | null;
  readonly zone: TimeZone;
  readonly whole: Span;
  readonly shown: Span;
  readonly zoomed: boolean;
  readonly rank: number;
  readonly found: RankSteps | undefined;
  /** What all charts of the page are given. */
  readonly shared: Omit<ChartProps, "panel">;
}

export function viewOf(data: JobData, job: Job): View {
  const metrics = data.metrics.value;
  const steps = data.steps.value;
  const zone = zoneOf("relative");
  const whole = wholeOf(job, metrics, steps);
  const shown = shownOf(search.value, job, whole);
  const rank = numberOf(search.value, "rank") ?? steps?.ranks[0]?.rank ?? 0;
  return {
    job, data, metrics, steps, zone, whole, shown, rank, zoomed: zoomOf(search.value) !== null,
    found: steps === null ? undefined : rankShown(steps, rank),
    shared: {
      span: { ...shown, dueMs: dueOf(job, metrics, whole) }, startMs: startMs(job), zone, sync: job.name, job: job.name, live: isRunning(job) && !paused.value && zoomOf(search.value) === null,
      zoom: (span) => zoomTo(job, whole, span),
      zoomBy: (by, aroundMs) => zoomBy(job, whole, by, aroundMs),
      turn: (by, aroundMs) => zoomBy(job, whole, by, aroundMs, goesOn(performance.now())),
      reset: resetZoom,
    },
  };
}

/** The keys of the parts that have a span of time. */
export function useTimeKeys(data: JobData): void {
  const keys = useMemo(
    () => [
      { keys: "0", help: "Show the whole job", act: resetZoom },
      { keys: "-", help: "Zoom out", act: () => zoomBy(data.job.peek() as Job, wholeOf(data.job.peek() as Job, data.metrics.peek(), data.steps.peek()), 2) },
      { keys: "+", help: "Zoom in; on a chart around its cursor", act: () => zoomBy(data.job.peek() as Job, wholeOf(data.job.peek() as Job, data.metrics.peek(), data.steps.peek()), 0.5) },
      { keys: "L", help: "Follow live, or pause", act: () => (zoomOf(search.peek()) ? setKeys({ live: null, from: null, to: null }) : toggleLive()) },
    ],
    [data],
  );
  useShortcuts(keys);
}
