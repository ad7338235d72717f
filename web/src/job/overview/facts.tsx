import type { ComponentChildren } from "preact";
import { count, dateTime, duration, type TimeZone } from "../../format";
import type { Job, JobNode } from "../../model";
import { withKeys } from "../../query";
import { isSentLater, JobState } from "../../status";
import { type Change, Changes } from "../changes";
import { clockOf } from "./clock";
import { coresOf, memoryOf } from "./node_limits";
import { rankRemarks } from "./rank_remarks";

// The parts of describe-job beside the rules: configuration, nodes, and the changes of the job's status.

function Fact({ word, children }: { readonly word: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{word}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function commandOf(job: Job): string | null {
  const command = job.nodes.map((node) => node.facts["command"]).find(Array.isArray);
  return command ? command.map(String).join(" ") : null;
}

function endOf(node: JobNode): string {
  if (node.signal !== null) return `signal ${node.signal}`;
  if (node.exit_code !== null) return `exit code ${node.exit_code}`;
  return node.ended_us === null ? "running" : "ended, exit code unknown";
}

/** Nodes whose agent did not do what the service asked for last. */
function refusalsOf(job: Job): readonly string[] {
  return job.nodes.flatMap((node) => {
    const last = node.facts["last_command"] as { readonly outcome?: unknown; readonly reason?: unknown } | undefined;
    return last?.outcome === "refused" ? [`${node.name}: ${String(last.reason)}`] : [];
  });
}

/** Sources that are not measured on a node, with the reasons. */
function absentOf(node: JobNode): string {
  const missing = node.facts["hooks_missing"];
  const steps = typeof missing === "string" && missing !== "" ? [`steps: ${missing}`] : [];
  return [...steps, ...(node.absent ?? []).map(({ source, reason }) => `${source}: ${reason}`)].join("; ");
}

/** What a fact says, of whichever nodes have it: nodes mostly agree. */
function factOf(job: Job, name: string): string {
  const said = job.nodes.map((node) => node.facts[name]).filter((value): value is string => typeof value === "string" && value !== "");
  return [...new Set(said)].slice(0, 5).join(", ");
}

/** Sources that the agent reads seldom, since reading them is dear on this machine. */
function seldomOf(node: JobNode): string {
  const rows: unknown = node.facts["read_seldom"];
  return (Array.isArray(rows) ? rows : []).slice(0, 20).flatMap((row: unknown) => {
    const { source, period_s: seconds } = (row ?? {}) as { readonly source?: unknown; readonly period_s?: unknown };
    return typeof source === "string" && typeof seconds === "number" ? [`${source}: every ${duration(seconds)}`] : [];
  }).join("; ");
}

const text = (value: unknown): string => (typeof value === "string" && value !== "" ? value : "–");

function Nodes({ job, zone }: { readonly job: Job; readonly zone: TimeZone }) {
  if (job.nodes.length === 0) return <p class="faint">No agent has reported yet.</p>;
  const anySeldom = job.nodes.some((node) => seldomOf(node) !== "");
  return (
    <div class="scroll row-cards" tabIndex={0} role="region" aria-label="Nodes">
      <table>
        <thead>
          <tr>
            {["Node", "Cores", "Memory", "GPUs", "State", "Clock off by", "Agent", "Not measured", ...(anySeldom ? ["Read seldom"] : [])].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {job.nodes.map((node) => (
            <tr key={node.name}>
              <th scope="row">{node.name}</th>
              <td data-label="Cores">{coresOf(node)}</td>
              <td data-label="Memory">{memoryOf(node)}</td>
              <td data-label="GPUs">{count(node.gpus?.length ?? 0)}</td>
              <td data-label="State">{endOf(node)}</td>
              <td class={node.clock_suspect ? "wrap" : undefined} data-label="Clock off by">{clockOf(node, zone)}</td>
              <td data-label="Agent">{text(node.facts["agent_version"])}</td>
              <td class="wrap" data-label="Not measured">{absentOf(node) || "–"}</td>
              {anySeldom ? <td class="wrap" data-label="Read seldom">{seldomOf(node) || "–"}</td> : null}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface FactsProps {
  readonly job: Job;
  readonly zone: TimeZone;
  readonly startMs: number;
}

function changesOf(job: Job): readonly Change[] {
  return job.secondary_status_transitions.map((row) => ({
    us: row.start_time_us,
    state: <JobState status={row.status as Job["status"]} secondary={row.secondary_status} />,
    words: row.message,
  }));
}

function Ranks({ job }: { readonly job: Job }) {
  const remarks = rankRemarks(job);
  if (remarks.length === 0) return null;
  return (
    <>
      <h3>Ranks</h3>
      <ul class="missing">
        {remarks.map((remark) => (
          <li key={remark}>{remark}</li>
        ))}
      </ul>
    </>
  );
}

export function Facts({ job, zone, startMs }: FactsProps) {
  const interval = job.configuration?.["interval_ms"];
  const command = commandOf(job);
  const [user, account] = [factOf(job, "user"), factOf(job, "account")];
  const refusals = refusalsOf(job);
  const clock = zone === "local" ? "local" : "utc";
  const sent = isSentLater(job);
  return (
    <section class="card facts" aria-labelledby="facts-title">
      <h2 id="facts-title">Job</h2>
      <dl>
        {job.group ? <Fact word="Group">{job.group}</Fact> : null}
        {user === "" ? null : (
          <Fact word="User">
            <a href={`/fleet${withKeys("", { by: "job", user })}`}>{user}</a>
          </Fact>
        )}
        {account === "" ? null : <Fact word="Account">{account}</Fact>}
        {command === null ? null : (
          <Fact word="Command">
            <code>{command}</code>
          </Fact>
        )}
        <Fact word="Created">
          {dateTime(job.created_us, clock)}
          {sent ? ", when it was sent" : ""}
        </Fact>
        <Fact word="Started">{dateTime(job.started_us, clock)}</Fact>
        <Fact word="Ended">{dateTime(job.ended_us, clock)}</Fact>
        {typeof interval === "number" ? <Fact word="Sampled every">{duration(interval / 1000)}</Fact> : null}
        {refusals.length > 0 ? <Fact word="Change refused">{refusals.join("; ")}</Fact> : null}
        <Fact word="Ranks">{count(job.ranks.length)}</Fact>
      </dl>
      <h3>Nodes</h3>
      <Nodes job={job} zone={clock} />
      <Ranks job={job} />
      <h3>What happened</h3>
      {sent ? <p class="faint">The job was sent after it had run: its status changed when it was sent, not while it ran.</p> : null}
      {job.secondary_status_transitions.length === 0 ? <p class="faint">No change of status yet.</p> : <Changes rows={changesOf(job)} zone={zone} startMs={startMs} />}
    </section>
  );
}
