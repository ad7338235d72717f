import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { count, dateTime, duration, hardware, number, percent, share } from "../format";
import { poll, type Poll } from "../poll";
import { valueOf } from "../query";
import { search } from "../router";
import { narrow, zoneOf } from "../settings";
import { Empty, Fault, Loading } from "../states";
import { tabPath } from "../tabs";
import { type ComparedJob, type Comparison, compareJobs } from "./calls";
import { Choose } from "./choose";
import { Overlays } from "./overlay";
import { certaintyOf, changeOf, headlineOf } from "./words";

// Two jobs beside each other: first how their steps differ and how sure that is, then everything else that differs.

type Cells = readonly [what: string, a: ComponentChildren, b: ComponentChildren, change: string];

function Table({ title, note, rows, found }: { readonly title: string; readonly note?: string; readonly rows: readonly Cells[]; readonly found: Comparison }) {
  const id = `compare-${title.replace(/\W+/g, "-").toLowerCase()}`;
  const changes = rows.some(([, , , change]) => change !== "");
  return (
    <section class="card facts" aria-labelledby={id}>
      <div class="section-head">
        <h2 id={id}>{title}</h2>
        {note ? <p>{note}</p> : null}
      </div>
      {rows.length === 0 ? (
        <p class="faint">Nothing differs.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label={`${title}, A and B`}>
          <table>
            <thead>
              <tr>
                <td />
                {[narrow.value ? "A" : `A: ${found.a.name}`, narrow.value ? "B" : `B: ${found.b.name}`, ...(changes ? ["From A to B"] : [])].map((head, i) => (
                  <th key={i} scope="col">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(([what, a, b, change]) => (
                <tr key={what}>
                  <th scope="row">{what}</th>
                  <td class="wrap">{a}</td>
                  <td class="wrap">{b}</td>
                  {changes ? <td>{change}</td> : null}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const kVerdictWords = { issues: "found issues", none: "no issues", unknown: "not judged" } as const;

function JobLink({ job }: { readonly job: ComparedJob }) {
  return <a href={tabPath(job.name, "overview")}>{job.name}</a>;
}

function numberRows({ a, b, steps }: Comparison): readonly Cells[] {
  const row = (what: string, of: (job: ComparedJob) => number | null, words: (value: number | null) => string): Cells => [what, words(of(a)), words(of(b)), changeOf(of(a), of(b))];
  const step = (what: string, key: "mean_seconds" | "p50_seconds" | "p95_seconds"): Cells =>
    [what, duration(steps.a?.[key]), duration(steps.b?.[key]), changeOf(steps.a?.[key] ?? null, steps.b?.[key] ?? null)];
  return [
    ["Job", <JobLink job={a} />, <JobLink job={b} />, ""],
    ["Status", a.status, b.status, ""],
    ["Created", dateTime(a.created_us, zoneOf("utc")), dateTime(b.created_us, zoneOf("utc")), ""],
    ["Rules", kVerdictWords[a.verdict], kVerdictWords[b.verdict], ""],
    ["Hardware", hardware(a.nodes, a.gpus), hardware(b.nodes, b.gpus), ""],
    row("Ranks", ({ ranks }) => ranks, count),
    row("Length", ({ duration_seconds }) => duration_seconds, duration),
    row("GPU hours", ({ gpu_hours }) => gpu_hours, number),
    ...(a.price_per_gpu_hour === null && b.price_per_gpu_hour === null ? [] : [
      row("Price of a GPU hour", (job) => job.price_per_gpu_hour, number),
      row("Cost", ({ cost }) => cost, number),
      row("Cost of 1,000 steps", (job) => job.cost_of_1000_steps, number),
    ]),
    row("GPU, mean", ({ mean_gpu_util_percent }) => mean_gpu_util_percent, percent),
    row("CPU, mean", ({ mean_cpu_util_percent }) => mean_cpu_util_percent, percent),
    ["Steps", count(steps.a?.steps), count(steps.b?.steps), changeOf(steps.a?.steps ?? null, steps.b?.steps ?? null)],
    step("Step, mean", "mean_seconds"), step("Step p50", "p50_seconds"), step("Step p95", "p95_seconds"),
  ];
}

function Found({ found }: { readonly found: Comparison }) {
  const { change } = found.steps;
  const tone = change.verdict === "faster" ? "compare-better" : change.verdict === "slower" ? "compare-worse" : "compare-even";
  const largest = (a: number | null, b: number | null) => Math.max(a ?? 0, b ?? 0);
  const phases = [...found.phases].sort((x, y) => largest(y.a_seconds, y.b_seconds) - largest(x.a_seconds, x.b_seconds));
  const budget = [...found.budget].sort((x, y) => largest(y.a_share, y.b_share) - largest(x.a_share, x.b_share));
  return (
    <div class="compare">
      <section class={`card diagnosis ${tone}`} aria-labelledby="compare-title">
        <h2 id="compare-title">{headlineOf(found)}</h2>
        <p>{certaintyOf(change)}</p>
      </section>
      <Overlays found={found} />
      <Table title="In numbers" found={found} rows={numberRows(found)} />
      <Table title="Phases of a step" note="mean time in a step of the first rank" found={found}
        rows={phases.map(({ phase, a_seconds: a, b_seconds: b }) => [phase, duration(a), duration(b), changeOf(a, b)])} />
      <Table title="Where the time went" note="part of the training’s time" found={found}
        rows={budget.map(({ cause, words, a_share: a, b_share: b }) => [cause === "busy" ? "computing" : words, share(a), share(b), ""])} />
      <Table title="Rules that differ" found={found}
        rows={found.rules.map(({ rule_configuration_name: name, a, b }) => [name, kVerdictWords[a as "none"] ?? "–", kVerdictWords[b as "none"] ?? "–", ""])} />
      <Table title="What else differs" note="configuration, first node and first rank" found={found} rows={found.differs.map(({ what, a, b }) => [what, a ?? "–", b ?? "–", ""])} />
    </div>
  );
}

export function ComparePage() {
  const found = useSignal<Comparison | null>(null);
  const asked = useSignal<Poll | null>(null);
  const [a, b] = [valueOf(search.value, "a"), valueOf(search.value, "b")];
  useEffect(() => void (document.title = "Compare · Stepscope"), []);
  useEffect(() => {
    found.value = null;
    asked.value = null;
    if (a === "" || b === "") return undefined;
    const opened = poll(async (stop) => void (found.value = await compareJobs(a, b, stop)), () => null);
    asked.value = opened;
    return () => opened.stop();
  }, [a, b]);
  const error = asked.value?.state.value.error ?? null;
  return (
    <>
      <div class="page-head">
        <h1>Compare</h1>
      </div>
      <Choose />
      {a === "" || b === "" ? <Empty title="Choose two jobs"><p>A is the measure, B is held against it. With only B chosen, A becomes the run before it of the same group.</p></Empty> : null}
      {asked.value === null ? null : <Fault what="The comparison" poll={asked.value} />}
      {asked.value !== null && found.value === null && error === null ? <Loading what="the comparison" class="loading-list" /> : null}
      {found.value === null ? null : <Found found={found.value} />}
    </>
  );
}
