import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, ask } from "../../api";
import { count, dateTime, duration, percent } from "../../format";
import { poll, type Poll } from "../../poll";
import type { Report } from "../../report_model";
import { Fault, Loading } from "../../states";
import { isUnknown } from "../../status";
import type { View } from "../frame";

// The report of the job: its results in numbers, how each is made, and the file to keep or to send on.

const kPeriodMs = 30_000;

function Table({ title, heads, rows }: { readonly title: string; readonly heads: readonly string[]; readonly rows: readonly (readonly string[])[] }) {
  return (
    <div class="scroll row-cards" tabIndex={0} role="region" aria-label={title}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([first, ...cells], i) => (
            <tr key={i}>
              <th scope="row">{first}</th>
              {cells.map((cell, at) => (
                <td key={at} class={cell.length > 60 ? "wrap" : undefined} data-label={heads[at + 1]}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Body({ report, zone }: { readonly report: Report; readonly zone: "utc" | "local" }) {
  const { summary, measured, rules, method } = report;
  const parts = [
    ["Initialisation", summary.initialisation],
    ["Training", summary.training_loop],
    ["Evaluation", summary.evaluation],
    ["Finalisation", summary.finalisation],
  ] as const;
  const lost = measured.lost_frames + measured.rejected_frames + measured.dropped_marks;
  return (
    <>
      <section class="card facts" aria-labelledby="report-summary">
        <h2 id="report-summary">The job in time</h2>
        <Table
          title="Time of its parts"
          heads={["Part", "Time", "Share"]}
          rows={[
            ...parts.flatMap(([word, part]) => (part === null ? [] : [[word, duration(part.seconds), percent(part.percent)]])),
            ["All", duration(summary.duration_seconds), ""],
          ]}
        />
        <p class="faint">
          From {dateTime(summary.start_us, zone)} to {summary.end_us === null ? "now" : dateTime(summary.end_us, zone)}. Samples every {duration(measured.interval_ms / 1000)} from{" "}
          {dateTime(measured.from_us, zone)} to {dateTime(measured.to_us, zone)};{" "}
          {lost === 0 ? "none are known to be lost." : `lost: ${count(measured.lost_frames)} pushes of agents, ${count(measured.rejected_frames)} that were refused, ${count(measured.dropped_marks)} marks of training processes.`}
        </p>
      </section>
      <section class="card facts" aria-labelledby="report-rules">
        <h2 id="report-rules">Rules</h2>
        <Table
          title="Verdicts of the rules"
          heads={["Rule", "Status", "Fired", "Verdict"]}
          rows={rules.map(({ rule, triggers }) => [
            rule.rule_configuration_name, isUnknown(rule) ? "not judged" : rule.rule_evaluation_status, count(triggers),
            rule.verdict?.sentence || rule.status_details || "",
          ])}
        />
      </section>
      <section class="card facts" aria-labelledby="report-method">
        <h2 id="report-method">How each number is made</h2>
        <Table title="Formulas" heads={["Number", "Formula", "Where it comes from"]} rows={method.map((row) => [row.number, row.formula, row.source])} />
      </section>
    </>
  );
}

export function Page({ view }: { readonly view: View }) {
  const { job, zone } = view;
  const report = useSignal<Report | null>(null);
  const asked = useSignal<Poll | null>(null);
  const path = `/jobs/${encodeURIComponent(job.name)}/report`;
  const running = job.ended_us === null;
  useEffect(() => {
    const read = async (stop: AbortSignal) => {
      report.value = await ask<Report>(address(path), "method", { stop });
    };
    const opened = poll(read, () => (running ? kPeriodMs : null));
    asked.value = opened;
    return () => opened.stop();
  }, [path, running]);
  const found = report.value;
  const failed = asked.value?.state.value.error !== null && asked.value !== null;
  return (
    <>
      <section class="card facts" aria-labelledby="report-title">
        <h2 id="report-title">Report</h2>
        <p>
          The report is one file that needs no service and no script to be read: verdict, charts, rules and tables.
          {found !== null && found.job.running ? ` As of ${dateTime(found.as_of_us, zone)}; the job still runs.` : ""}
        </p>
        <p class="report-ways">
          <a class="button" href={`/api/v1${path}.html`}>
            Open it
          </a>{" "}
          <a class="button" href={`/api/v1${path}.html`} download={`${job.name}-report.html`}>
            Save it
          </a>{" "}
          <a class="button" href={`/api/v1${path}`} download={`${job.name}-report.json`}>
            Save its numbers (JSON)
          </a>
        </p>
      </section>
      {asked.value === null ? null : <Fault what="The report" poll={asked.value} />}
      {found === null && failed ? null : found === null ? <Loading what="the report" class="card loading-chart" /> : <Body report={found} zone={zone === "local" ? "local" : "utc"} />}
    </>
  );
}
