import type { ComponentChildren } from "preact";
import { ago, dateTime, duration, elapsed, hardware, kNothing, type TimeZone } from "../format";
import { Icon } from "../icons";
import type { JobItem } from "../model";
import { valueOf, withKeys } from "../query";
import { search } from "../router";
import { narrow, serviceNow, zoneOf } from "../settings";
import { isSentLater, JobState, kGreyStyle, kReport, Status } from "../status";
import type { Row as JobRow } from "./list";
import { Sparkline } from "./sparkline";
import { onRowKey, Tick } from "./ticked";

// The list as a table, and as cards where it is narrow.

function href(name: string): string {
  return `/jobs/${encodeURIComponent(name)}${withKeys("", { tz: valueOf(search.value, "tz") })}`;
}

function JobLink({ name }: { readonly name: string }) {
  return (
    <a class="job-link" href={href(name)} onKeyDown={(event) => onRowKey(name, event)}>
      {name}
    </a>
  );
}

function Created({ job, zone }: { readonly job: JobItem; readonly zone: TimeZone }) {
  const exact = dateTime(job.created_us, "utc");
  const text =
    zone === "relative" ? ago((serviceNow.value - job.created_us / 1000) / 1000) : dateTime(job.created_us, zone, false);
  return (
    <>
      <time dateTime={new Date(job.created_us / 1000).toISOString()} title={exact}>
        {text}
      </time>
      {isSentLater(job) ? <span class="left-note">ran {dateTime(job.started_us, zone, false)}</span> : null}
    </>
  );
}

function runSeconds(job: JobRow): string {
  if (job.left === "deleted") return kNothing;
  if (job.ended_us !== null) return duration(job.duration_seconds);
  if (job.started_us === null) return elapsed(job.duration_seconds);
  return elapsed(Math.max(0, serviceNow.value - job.started_us / 1000) / 1000);
}

/** The job's status; of a job that is no longer among those asked for, also why. */
function State({ job }: { readonly job: JobRow }) {
  if (job.left === "deleted") return <Status style={kGreyStyle} word="Deleted" />;
  return (
    <>
      <JobState status={job.status} secondary={job.secondary_status} />
      {job.left === "changed" ? <span class="left-note">no longer matches</span> : null}
    </>
  );
}

function Issues({ job }: { readonly job: JobItem }) {
  const names = job.rules_in_trouble.filter((name) => name !== kReport);
  if (names.length === 0 && job.verdict === "issues") names.push("bottleneck");
  if (names.length === 0) return <span class="faint">{job.verdict === "unknown" ? "not judged" : "no issues"}</span>;
  return (
    <span class="issues tone-amber" title={names.join(", ")}>
      <Icon name="bang" />
      <span>{names.length}</span>
      <span class="issues-names">{names.join(", ")}</span>
    </span>
  );
}

function Util({ job }: { readonly job: JobItem }) {
  if (job.gpus > 0 && job.mean_gpu_util_percent !== null) {
    return <Sparkline mean={job.mean_gpu_util_percent} values={job.gpu_util_sparkline} of="GPU utilisation" />;
  }
  return <Sparkline mean={job.mean_cpu_util_percent} values={job.cpu_util_sparkline} of="CPU utilisation" />;
}

interface HeadProps {
  readonly sort: "name" | "status" | "created" | "duration" | "issues";
  readonly children: ComponentChildren;
}

/** Orders that start with the newest, the longest, the most. */
const kDownwards: readonly string[] = ["created", "duration", "issues"];

/** A click sorts, a second one turns the order. */
function SortHead({ sort, children }: HeadProps) {
  const now = valueOf(search.value, "sort", "-created");
  const order = now === sort ? "ascending" : now === `-${sort}` ? "descending" : undefined;
  const first = kDownwards.includes(sort) ? `-${sort}` : sort;
  const next = now === first ? (first === sort ? `-${sort}` : sort) : first;
  const link = `/jobs${withKeys(search.value, { sort: next === "-created" ? null : next, cursor: null })}`;
  return (
    <th scope="col" aria-sort={order}>
      <a class="sort" href={link}>
        {children}
        <span aria-hidden="true">{order === "ascending" ? " ▲" : order === "descending" ? " ▼" : ""}</span>
      </a>
    </th>
  );
}

function GroupLink({ group }: { readonly group: string }) {
  return (
    <a class="group" href={`/jobs${withKeys("", { group })}`}>
      {group}
    </a>
  );
}

function Row({ job, zone }: { readonly job: JobRow; readonly zone: TimeZone }) {
  return (
    <tr class={job.left === undefined ? undefined : "left"}>
      <th scope="row">
        <Tick name={job.name} />
        <JobLink name={job.name} />
        {job.group ? <GroupLink group={job.group} /> : null}
      </th>
      <td>
        <State job={job} />
      </td>
      <td class="figure">
        <Created job={job} zone={zone} />
      </td>
      <td class="figure">{runSeconds(job)}</td>
      <td>{hardware(job.nodes, job.gpus)}</td>
      <td>
        <Util job={job} />
      </td>
      <td class="figure">{duration(job.median_step_seconds)}</td>
      <td>
        <Issues job={job} />
      </td>
    </tr>
  );
}

function Card({ job, zone }: { readonly job: JobRow; readonly zone: TimeZone }) {
  return (
    <li class={job.left === undefined ? "card job-card" : "card job-card left"}>
      <div class="job-card-head">
        <span>
          <Tick name={job.name} />
          <JobLink name={job.name} />
        </span>
        <State job={job} />
      </div>
      <div class="job-card-line">
        <Created job={job} zone={zone} />
        <span>{runSeconds(job)}</span>
        <span>{hardware(job.nodes, job.gpus)}</span>
      </div>
      <div class="job-card-line">
        <Util job={job} />
        {job.median_step_seconds === null ? null : <span>step {duration(job.median_step_seconds)}</span>}
        <Issues job={job} />
      </div>
    </li>
  );
}

export function JobTable({ items }: { readonly items: readonly JobRow[] }) {
  const zone = zoneOf("utc");
  if (narrow.value) {
    return (
      <ul class="cards" aria-label="Training jobs">
        {items.map((job) => (
          <Card key={job.name} job={job} zone={zone} />
        ))}
      </ul>
    );
  }
  const anyGpu = items.some((job) => job.gpus > 0);
  const suffix = zone === "utc" ? " (UTC)" : zone === "local" ? " (local)" : "";
  return (
    <div class="card table-card">
      <table class="jobs">
        <caption class="unseen">Training jobs</caption>
        <thead>
          <tr>
            <SortHead sort="name">Name</SortHead>
            <SortHead sort="status">Status</SortHead>
            <SortHead sort="created">Created{suffix}</SortHead>
            <SortHead sort="duration">Duration</SortHead>
            <th scope="col">Nodes × GPUs</th>
            <th scope="col">{anyGpu ? "GPU or CPU util" : "CPU util"}</th>
            <th scope="col">Step p50</th>
            <SortHead sort="issues">Issues</SortHead>
          </tr>
        </thead>
        <tbody>
          {items.map((job) => (
            <Row key={job.name} job={job} zone={zone} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
