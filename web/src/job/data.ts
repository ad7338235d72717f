import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { ApiError, describeJob, listJudged, readMetrics, readSteps } from "../api";
import type { Job, JudgedRule, Metrics, Steps } from "../model";
import { type Poll, poll } from "../poll";
import { valueOf } from "../query";
import { match, path, search } from "../router";
import type { Tab } from "../tabs";
import type { CustomMetricNames } from "./system/custom_metric_names";
import { isFolded, metricsOf, type Row, rowsOf } from "./panels";
import { hasSteps, rankAskedFor, stepsQuery } from "./ranks";
import { askForStrip, kEpoch } from "./strip/calls";
import { append } from "./traces";
import { isRunning, startMs, zoomOf } from "./view";

// The data of a job's page, and the calls that keep it fresh. Three calls follow a running job, each at its own
// pace, together at most one a second; custom_metrics.tsx adds a rare one. Steps and metrics of a zoom into the
// past are asked for once.

const kPoints = 360;
const kPeriodMs = 4000;
const kLeastPeriodMs = 2000;

export interface JobData {
  readonly job: ReadonlySignal<Job | null>;
  readonly rules: ReadonlySignal<readonly JudgedRule[]>;
  readonly metrics: ReadonlySignal<Metrics | null>;
  readonly steps: ReadonlySignal<Steps | null>;
  /** The job's custom metrics, which the part of the page that shows them finds out; null until then. */
  readonly customMetrics: Signal<CustomMetricNames | null>;
  /** The custom metrics that `metrics` was asked for. */
  readonly customAsked: ReadonlySignal<readonly string[]>;
  readonly jobPoll: Poll;
  readonly metricsPoll: ReadonlySignal<Poll | null>;
  readonly stepsPoll: ReadonlySignal<Poll | null>;
  stop(): void;
}

export const paused = computed(() => valueOf(search.value, "live") === "0");
/** The part of the page that is on screen. */
export const shownTab = computed<Tab>(() => {
  const route = match(path.value);
  return route.page === "job" ? route.tab : "overview";
});
const zoomKey = computed(() => {
  const zoom = zoomOf(search.value);
  return zoom === null ? "" : `${zoom.fromMs} ${zoom.toMs}`;
});

/** The span of time of a call: the zoom and a little more on both sides, so that its edges are drawn. */
function windowOf(job: Job): { from_us?: number; to_us?: number } {
  const zoom = zoomOf(search.peek());
  if (zoom === null) return {};
  const start = startMs(job);
  const margin = (zoom.toMs - zoom.fromMs) / 20;
  const from = Math.max(0, Math.round((start + zoom.fromMs - margin) * 1000));
  return { from_us: from, to_us: Math.max(from + 1, Math.round((start + zoom.toMs + margin) * 1000)) };
}

interface Asked {
  readonly rows: readonly Row[];
  /** The only node that is asked for; null: all. */
  readonly node: string | null;
}

/** What a part of the page asks for; System's is loaded with that part. */
async function askedBy(tab: Tab, job: Job): Promise<Asked> {
  if (tab !== "system") return { rows: rowsOf(job, tab), node: null };
  const { systemRows, nodeAsked } = await import("./system/asked");
  return { rows: systemRows(job), node: nodeAsked(job, search.peek()) };
}

function longest(metrics: Metrics): number {
  return metrics.series.reduce((most, series) => Math.max(most, series.times_us.length), 0);
}

/** Asks for the samples since the cursor; for all again when there is no cursor, or when the bins became too many. */
async function nextMetrics(job: Job, { rows, node }: Asked, custom: readonly string[], shown: Metrics | null, stop: AbortSignal): Promise<Metrics> {
  const folded = isFolded(job) && node === null;
  const what = { node, metric: [...new Set([...metricsOf(job, rows), kEpoch, ...custom])].join(","), fold: folded ? "metric" : null };
  // A job that grew large is asked for folded series from then on, which cannot be appended to the others.
  const same = shown?.series.every((series) => (series.of !== undefined) === folded) ?? false;
  if (same && shown !== null && shown.cursor !== null && longest(shown) < 2 * kPoints) {
    try {
      return append(shown, await readMetrics(job.name, { ...what, since: shown.cursor }, stop));
    } catch (fault) {
      if (!(fault instanceof ApiError && fault.status === 400)) throw fault;
      // The service refuses to send so much at once: the page was hidden for a night, for example.
    }
  }
  const span = windowOf(job);
  const found = readMetrics(job.name, { ...what, points: kPoints, ...span }, stop);
  askForStrip(job.name, span.from_us !== undefined); // in one request, behind the charts
  return found;
}

export function openJob(name: string): JobData {
  const job = signal<Job | null>(null);
  const rules = signal<readonly JudgedRule[]>([]);
  const metrics = signal<Metrics | null>(null);
  const steps = signal<Steps | null>(null);
  const customMetrics = signal<CustomMetricNames | null>(null);
  const customAsked = signal<readonly string[]>([]);
  const metricsPoll = signal<Poll | null>(null);
  const stepsPoll = signal<Poll | null>(null);
  const stopper = new AbortController();

  const live = () => job.peek() !== null && isRunning(job.peek() as Job) && !paused.peek();
  const describe = async (stop: AbortSignal) => {
    job.value = await describeJob(name, stop);
  };
  const jobPoll = poll(describe, () => (job.peek() && isRunning(job.peek() as Job) ? kPeriodMs : null));

  // The end of the job asks for everything once more.
  const phase = computed(() => (job.value === null ? "unknown" : isRunning(job.value) ? "running" : "ended"));
  const chartedNames = computed(() => (shownTab.value === "system" ? customMetrics.value?.charted.join(",") : null) ?? "");
  /** The devices that the link names, where these are asked for alone. */
  const devices = computed(() => (shownTab.value === "system" && job.value !== null && isFolded(job.value) ? valueOf(search.value, "dev") : ""));
  let drawn: Tab | null = null; // the part of the page for which the last samples were asked
  const endMetrics = effect(() => {
    const names = chartedNames.value.split(",").filter(Boolean);
    const zoom = zoomKey.value;
    void devices.value; // others are asked for anew
    const follow = !paused.value && zoom === "";
    const tab = shownTab.value;
    if (phase.value === "unknown" || (tab !== "system" && rowsOf(job.peek() as Job, tab).length === 0)) return undefined;
    if (drawn !== tab) metrics.value = null;
    drawn = tab;
    let shown: Metrics | null = null;
    const ask = async (stop: AbortSignal) => {
      const now = job.peek() as Job;
      shown = await nextMetrics(now, await askedBy(tab, now), names, shown, stop);
      batch(() => {
        metrics.value = shown;
        customAsked.value = names;
      });
    };
    const period = () => (follow && live() ? Math.max(kLeastPeriodMs, shown?.interval_ms ?? 0) : null);
    const opened = poll(ask, period);
    metricsPoll.value = opened;
    return () => opened.stop();
  });
  // The charts come first: without the parameters of rules they only lack their thresholds. These never change while a job runs.
  const charted = computed(() => metrics.value !== null && hasSteps(shownTab.value));
  const endRules = effect(() => {
    if (charted.value && rules.peek().length === 0) listJudged(name, stopper.signal).then((found) => (rules.value = found), () => {});
  });
  const stepsAsked = computed(() => {
    const tab = shownTab.value;
    if (job.value === null || !hasSteps(tab)) return null;
    return JSON.stringify(stepsQuery(tab, rankAskedFor(job.value, tab, search.value)));
  });
  let stepsOf: Tab | null = null; // the part of the page for which steps were asked last
  const endSteps = effect(() => {
    const follow = !paused.value;
    const asked = stepsAsked.value;
    if (phase.value === "unknown" || asked === null) return undefined;
    if (shownTab.peek() === "steps" && stepsOf !== "steps") steps.value = null; // other parts read fewer ranks
    stepsOf = shownTab.peek();
    const ask = async (stop: AbortSignal) => {
      steps.value = await readSteps(name, JSON.parse(asked) as ReturnType<typeof stepsQuery>, stop);
    };
    const opened = poll(ask, () => (follow && live() ? kPeriodMs : null));
    stepsPoll.value = opened;
    return () => opened.stop();
  });

  const stop = () => {
    stopper.abort();
    endMetrics();
    endRules();
    endSteps();
    jobPoll.stop();
  };
  return { job, rules, metrics, steps, customMetrics, customAsked, jobPoll, metricsPoll, stepsPoll, stop };
}
