import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { ago, clockTime, dateTime, duration, elapsed, hardware, zoneName } from "../format";
import type { Job } from "../model";
import { withKeys } from "../query";
import { search } from "../router";
import { serviceNow, zoneOf } from "../settings";
import { JobState } from "../status";
import { kTabs, type Tab, tabPath } from "../tabs";
import { isRunning, startMs } from "./view";

// The head of the page: the job's name and status, the parts of the page, its hardware, and the age of its newest samples.

function gpusOf(job: Job): number {
  return job.nodes.reduce((total, node) => total + (node.gpus?.length ?? 0), 0);
}

function gpuNames(job: Job): string {
  const names = job.nodes.flatMap((node) => node.gpus ?? []).map((gpu) => {
    const name = typeof gpu === "object" && gpu !== null ? Reflect.get(gpu, "name") : gpu;
    return typeof name === "string" ? name : "";
  });
  return [...new Set(names.filter((name) => name !== ""))].join(", ");
}

const kAmberS = 10;
const kRedS = 30;

/** Since when a node is silent, or for how long where times are counted. */
function silentWords(ms: number, seconds: number): string {
  const zone = zoneOf("relative");
  return zone === "relative" ? `for ${elapsed(seconds)}` : `since ${clockTime(ms, zone)} ${zoneName(zone)}`;
}

/** The age of the newest push of the node that is silent the longest. */
function Freshness({ job }: { readonly job: Job }) {
  const nodes = job.nodes.filter((node) => node.ended_us === null && node.last_seen_us !== null);
  const [oldest] = [...nodes].sort((a, b) => (a.last_seen_us ?? 0) - (b.last_seen_us ?? 0));
  if (!isRunning(job)) return null;
  if (!oldest) return <span class="chip">No samples yet</span>;
  const seenMs = (oldest.last_seen_us ?? 0) / 1000;
  const seconds = Math.max(0, (serviceNow.value - seenMs) / 1000);
  const tone = seconds > kRedS ? "red" : seconds > kAmberS ? "amber" : "green";
  const words =
    seconds > kRedS ? `${oldest.name} silent ${silentWords(seenMs, seconds)}` : `Last samples ${ago(seconds)}`;
  return <span class={`chip chip-${tone}`}>{words}</span>;
}

function runTime(job: Job): string {
  if (job.started_us === null) return "not started";
  if (job.ended_us !== null) return duration((job.ended_us - job.started_us) / 1e6);
  return elapsed((serviceNow.value - startMs(job)) / 1000);
}

export function Crumbs({ group }: { readonly group: string }) {
  return (
    <nav class="crumbs" aria-label="Where you are">
      <a href="/jobs">Jobs</a> {group === "" ? null : <>/ <a href={`/jobs${withKeys("", { group })}`}>{group}</a></>}
    </nav>
  );
}

/**
 * The link to a part of a job's page: span of time, rank and zone go along, what only one part knows stays behind. `show` is a
 * chart or a rule of that part; of the heat map a metric, with its lowest row first.
 */
export function tabLink(name: string, tab: Tab, show: string | null = null): string {
  const ofMap = tab === "heatmap" && show !== null ? { show: null, metric: show, order: "mean" } : { show, metric: null, order: null };
  return tabPath(name, tab) + withKeys(search.value, { h: null, dev: null, node: null, ...ofMap });
}

export function Tabs({ name, tab }: { readonly name: string; readonly tab: Tab }) {
  return (
    <nav class="tabs" aria-label="Parts of the job">
      {kTabs.map(({ id, word }) => (
        <a key={id} href={tabLink(name, id)} aria-current={id === tab ? "page" : undefined}>
          {word}
        </a>
      ))}
    </nav>
  );
}

/** Whether the job ran when this part of the page was opened: what it held free for what comes stays as high when the job ends. */
export const useWatched = (job: Job): boolean => useRef(isRunning(job)).current;

/** The job whose reason to fail was asked for, which is then shown even where it pushes down what is on screen. */
const askedWhy = signal("");

function WhyFailed({ job }: { readonly job: Job }) {
  if (job.status !== "Failed" || job.failure === null) return null;
  return (
    <a class="chip chip-red" href={tabLink(job.name, "overview")} onClick={() => (askedWhy.value = job.name)}>
      Why it failed
    </a>
  );
}

export function Head({ job, tab }: { readonly job: Job; readonly tab: Tab }) {
  const gpus = gpuNames(job);
  const watched = useWatched(job);
  return (
    <>
      <Crumbs group={job.group ?? ""} />
      <div class="job-top">
        <div class={watched ? "job-title job-title-live" : "job-title"}>
          <h1 title={job.name}>{job.name}</h1>
          <JobState status={job.status} secondary={job.secondary_status} />
          <Freshness job={job} />
          <WhyFailed job={job} />
        </div>
        <Tabs name={job.name} tab={tab} />
      </div>
      <ul class="job-facts">
        <li>{runTime(job)}</li>
        <li>
          <a href={`/compare${withKeys("", { b: job.name })}`}>Compare</a>
        </li>
        <li>
          started <time dateTime={new Date(startMs(job)).toISOString()}>{dateTime(startMs(job) * 1000, zoneOf("utc"))}</time>
        </li>
        <li>
          {hardware(job.nodes.length, gpusOf(job))}
          {gpus === "" ? "" : ` · ${gpus}`}
        </li>
      </ul>
    </>
  );
}

/** Why a job failed, in its own last words. It waits for a click where the job ran when the page was opened: nothing on screen moves by itself. */
export function FailureCard({ job }: { readonly job: Job }) {
  const { failure } = job;
  const watched = useWatched(job);
  if (job.status !== "Failed" || failure === null || (watched && askedWhy.value !== job.name)) return null;
  const ended = failure.signal !== null ? `was ended by signal ${failure.signal}` : `ended with exit code ${failure.exit_code ?? "unknown"}`;
  return (
    <section class="card failure" aria-labelledby="failure-title">
      <h2 id="failure-title">
        The command {failure.node ? `on ${failure.node} ` : ""}
        {ended}
      </h2>
      {failure.reason ? <p>As counted: {failure.reason}.</p> : null}
      {failure.output === null ? (
        <p class="faint">Its last words are not known: its error output went to a terminal, or was not to be sent.</p>
      ) : failure.output.length === 0 ? (
        <p class="faint">It wrote nothing to its error output.</p>
      ) : (
        <pre tabIndex={0} aria-label="Last lines of its error output">
          <code>{failure.output.join("\n")}</code>
        </pre>
      )}
    </section>
  );
}
