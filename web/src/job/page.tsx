import "uplot/dist/uPlot.min.css";
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { useShortcuts } from "../keys";
import type { Job, Metrics, RankSteps, Steps } from "../model";
import { numberOf } from "../query";
import { navigate, search, setKeys } from "../router";
import { now, zoneOf } from "../settings";
import { Empty, Fault, Loading } from "../states";
import { dateTime, elapsed, type TimeZone } from "../format";
import type { ChartProps } from "./chart";
import { type JobData, openJob, paused } from "./data";
import { Diagnosis } from "./diagnosis";
import { Figures } from "./figures";
import { Crumbs, FailureCard, Head } from "./head";
import { charts, lazyParts, loadCharts, loadLazyParts, tunedRule } from "./lazy_parts";
import { customMetricPanel, isFolded, panelCount, panelsOf } from "./panels";
import { Parts } from "./parts";
import { ranksNote, ranksToChoose, sampledNodes } from "./ranks";
import { Rules } from "./rules";
import { isAsync, phasePanel, rankShown, stepPanel } from "./step_panels";
import { Toolbar, toggleLive } from "./toolbar";
import { isRunning, removedUntilUs, resetZoom, shownOf, type Span, startMs, wholeOf, zoomBy, zoomOf, zoomTo } from "./view";

loadCharts(); // while the job is asked for

/** Placeholders of the charts of a rank's steps; a job without ranks has a single chart, which says so. */
function StepsLoading({ job }: { readonly job: Job }) {
  const places = job.ranks.length === 0 ? [""] : ["", " loading-tall", ""];
  return <>{places.map((tall, i) => <Loading key={i} what="the steps" class={`card loading-chart${tall}`} />)}</>;
}

function ChartsLoading({ job }: { readonly job: Job }) {
  return (
    <div class="charts">
      <StepsLoading job={job} />
      {Array.from({ length: panelCount(job) }, (_, i) => (
        <Loading key={i} what="the chart" class="card loading-chart" />
      ))}
    </div>
  );
}

/** Shown while there is no sample at all: what the page waits for, and after a minute what to check. */
function NoSamples({ job }: { readonly job: Job }) {
  const seconds = (now.value - job.created_us / 1000) / 1000;
  if (job.ended_us !== null) return <Empty title="No samples"><p>The job ended before its agents sent any.</p></Empty>;
  return (
    <Empty title={`Waiting for the first sample${job.nodes[0] ? ` from ${job.nodes[0].name}` : ""}`}>
      <p>The job was created {elapsed(seconds)} ago. Samples arrive every 2 s once its agent runs.</p>
      {seconds < 60 ? null : (
        <ul>
          <li>Does the agent run, with this job’s name?</li>
          <li>Can it reach this service at {window.location.origin}?</li>
          <li>Is the clock of its node right?</li>
        </ul>
      )}
    </Empty>
  );
}

function RankChoice({ job, steps, rank }: { readonly job: Job; readonly steps: Steps; readonly rank: number }) {
  const ranks = ranksToChoose(job, steps);
  const note = ranksNote(steps);
  if (ranks.length < 2) return null;
  return (
    <label class="rank-choice">
      <span>Steps of rank</span>
      <select value={String(rank)} onChange={(event) => setKeys({ rank: event.currentTarget.value }, true)}>
        {ranks.map((each) => (
          <option key={each} value={String(each)}>
            {each}
          </option>
        ))}
      </select>
      {note === "" ? null : <span>{note}</span>}
    </label>
  );
}

function Partial({ job, metrics }: { readonly job: Job; readonly metrics: Metrics }) {
  const { many, missing } = sampledNodes(job, metrics);
  if (many >= job.nodes.length || many === 0) return null;
  return (
    <p class="notice notice-amber" role="status">
      {many} of {job.nodes.length} nodes have samples in this span of time.{missing.length === 0 ? null : ` Missing: ${missing.join(", ")}.`}
    </p>
  );
}

/** A notice about the time of which nothing finer than rollups is left. */
function Removed({ job, span, zone }: { readonly job: Job; readonly span: Span; readonly zone: TimeZone }) {
  const us = removedUntilUs(job, span);
  if (us === null) return null;
  return (
    <p class="notice notice-grey" role="status">
      Samples and steps before {dateTime(us, zone === "local" ? "local" : "utc")} were removed. What is kept of samples is the least, mean and
      greatest value of each 10 s.
    </p>
  );
}

/** The histogram of the rank's step times, once the lazily loaded parts are here. */
function StepTimes({ found, job, save }: { readonly found: RankSteps; readonly job: Job; readonly save: (name: string, csv: string) => void }) {
  useEffect(loadLazyParts, []);
  const Histogram = lazyParts.value?.Histogram;
  return Histogram ? <Histogram found={found} job={job.name} save={save} /> : <Loading what="the histogram" class="card loading-chart" />;
}

function Loaded({ data, job }: { readonly data: JobData; readonly job: Job }) {
  const metrics = data.metrics.value;
  const steps = data.steps.value;
  const rules = data.rules.value;
  const zone = zoneOf("relative");
  const whole = wholeOf(job, metrics, steps);
  const shown = shownOf(search.value, job, whole);
  const rank = numberOf(search.value, "rank") ?? steps?.ranks[0]?.rank ?? 0;
  const zoomed = zoomOf(search.value) !== null;

  const panels = useMemo(() => (metrics === null ? [] : panelsOf(job, metrics, rules)), [job, metrics, rules]);
  const stepsPanel = useMemo(() => (steps === null ? null : stepPanel(steps, rank)), [steps, rank]);
  const found = steps === null ? undefined : rankShown(steps, rank);
  const launches = found !== undefined && isAsync(job, found.rank);
  const phases = useMemo(() => (found && found.steps > 0 ? phasePanel(found, launches) : null), [found, launches]);
  const shared: Omit<ChartProps, "panel"> = {
    span: shown, startMs: startMs(job), zone, sync: job.name, job: job.name,
    zoom: (span) => zoomTo(job, whole, span),
    zoomBy: (by, aroundMs) => zoomBy(job, whole, by, aroundMs),
    reset: resetZoom,
  };
  const { Chart, saveText } = charts.value ?? {};
  const customPanels = useMemo(() => (metrics === null ? [] : data.customAsked.value.map((name) => customMetricPanel(name, metrics, rules))), [metrics, rules]);
  const drawCustomMetric = (metric: string) => Chart ? customPanels.filter(({ id }) => id === metric).map((panel) => <Chart key={metric} panel={panel} {...shared} />) : null;
  const keys = useMemo(
    () => [
      { keys: "0", help: "Show the whole job", act: resetZoom },
      { keys: "-", help: "Zoom out", act: () => zoomBy(data.job.peek() as Job, wholeOf(data.job.peek() as Job, data.metrics.peek(), data.steps.peek()), 2) },
      { keys: "L", help: "Follow live, or pause", act: () => (zoomOf(search.peek()) ? setKeys({ live: null, from: null, to: null }) : toggleLive()) },
    ],
    [data],
  );
  useShortcuts(keys);
  // The parts below the charts wait until the height of charts and annotations is known, so that nothing jumps.
  const named = found && found.annotations.length > 0 ? found : null;
  const settled =
    (data.customMetrics.value !== null || lazyParts.value?.CustomMetrics === undefined) && ((metrics !== null && charts.value !== null) || data.metricsPoll.value?.state.value.error) &&
    (steps !== null || data.stepsPoll.value?.state.value.error) && (named === null || lazyParts.value !== null);
  const { Annotations, CustomMetrics, Facts, Remove, Tune } = lazyParts.value ?? {};
  const charted = metrics !== null;
  useEffect(() => void ((named || charted || settled) && loadLazyParts()), [named !== null, charted, settled]);
  const none = metrics !== null && metrics.series.length === 0 && !zoomed;
  const waits = metrics === null ? !data.metricsPoll.value?.state.value.error : !none && charts.value === null;

  return (
    <>
      <Head job={job} />
      <Parts found={job.diagnosis} running={isRunning(job)} />
      <Fault what="The job" poll={data.jobPoll} />
      <FailureCard job={job} />
      {job.diagnosis ? <Diagnosis found={job.diagnosis} running={job.ended_us === null} /> : null}
      <Rules job={job} />
      <Figures job={job} metrics={metrics} steps={steps} span={shown} rank={rank} />
      <section aria-labelledby="charts-title">
        <h2 id="charts-title" class="unseen">
          Charts
        </h2>
        <Toolbar job={job} whole={whole} shown={shown} zoomed={zoomed} zone={zone} poll={data.metricsPoll.value}>
          {steps === null ? null : <RankChoice job={job} steps={steps} rank={rank} />}
        </Toolbar>
        {data.metricsPoll.value ? <Fault what="The charts" poll={data.metricsPoll.value} /> : null}
        {data.stepsPoll.value ? <Fault what="The step times" poll={data.stepsPoll.value} /> : null}
        <Removed job={job} span={shown} zone={zone} />
        {metrics === null ? null : <Partial job={job} metrics={metrics} />}
        {waits ? <ChartsLoading job={job} /> : null}
        {none ? <NoSamples job={job} /> : null}
        {metrics !== null && !none && Chart && saveText ? (
          <div class="charts" data-live={paused.value || zoomed ? "no" : "yes"}>
            {stepsPanel !== null ? <Chart key="steps" panel={stepsPanel} {...shared} /> : null}
            {stepsPanel === null && !data.stepsPoll.value?.state.value.error ? <StepsLoading job={job} /> : null}
            {phases !== null ? <Chart key="phases" panel={phases} {...shared} /> : null}
            {found && found.steps > 0 ? <StepTimes found={found} job={job} save={saveText} /> : null}
            {panels.map((panel) => (
              <Chart key={panel.id} panel={panel} {...shared} />
            ))}
          </div>
        ) : null}
        {CustomMetrics ? <CustomMetrics job={job} data={data} follow={isRunning(job) && !paused.value} folded={isFolded(job)} draw={drawCustomMetric} /> : null}
      </section>
      {settled && named && Annotations ? <Annotations found={named} /> : null}
      {settled && Facts ? <Facts job={job} zone={zone} startMs={shared.startMs} /> : null}
      {settled && Remove ? <Remove job={job} /> : null}
      {Tune ? <Tune key={job.name} job={job} rule={tunedRule} zone={zone} startMs={shared.startMs} changed={() => data.jobPoll.retry()} /> : null}
    </>
  );
}

function NoJob({ name }: { readonly name: string }) {
  return (
    <Empty title="No such job" whole>
      <p>
        There is no job named “{name}”. It may have been deleted. Go to <a href="/jobs">the jobs</a>.
      </p>
    </Empty>
  );
}

const kKeys = [
  { keys: "/", help: "Search jobs", act: () => (navigate("/jobs"), window.setTimeout(() => document.getElementById("search")?.focus(), 50)) },
  { keys: "Escape", help: "Leave the chart or the field", act: () => (document.activeElement as HTMLElement).blur() },
];

export function JobPage({ name }: { readonly name: string }) {
  const data = useSignal<JobData | null>(null);
  useShortcuts(kKeys);
  useEffect(() => {
    document.title = `${name} · Stepscope`;
    const opened = openJob(name);
    data.value = opened;
    return () => opened.stop();
  }, [name, data]);

  const opened = data.value;
  const job = opened?.job.value ?? null;
  if (opened !== null && job !== null) return <Loaded data={opened} job={job} />;
  const error = opened?.jobPoll.state.value.error ?? null;
  if (error?.status === 404) return <NoJob name={name} />;
  return (
    <>
      <div class="job-head">
        <Crumbs group="" />
        <h1>{name}</h1>
      </div>
      {opened === null || error === null ? <Loading what="the job" class="loading-page" /> : <Fault what="The job" poll={opened.jobPoll} />}
    </>
  );
}
