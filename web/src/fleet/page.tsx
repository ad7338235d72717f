import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { clockTime, count, hours, number, share, zoneName } from "../format";
import { poll, type Poll } from "../poll";
import { valueOf } from "../query";
import { search, setKeys } from "../router";
import { zoneOf } from "../settings";
import { Empty, Fault, Loading } from "../states";
import { byOf, csvAddress, type Fleet, type FleetSums, kBy, kFilters, kSpans, parametersOf, readFleet } from "./calls";
import { Idle } from "./idle";
import { Causes, Hatch, Weeks } from "./pictures";
import { Grid, Scatter } from "./spread";
import { Holders, Losses } from "./tables";
import { doubtOf, headlineOf } from "./words";

// The hours of all GPUs: how many were held, busy and lost, to what, and by whom.

const kPeriodMs = 60_000;

function Choice({ label, value, options, choose }: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly choose: (value: string) => void;
}) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {options.map(([each, word]) => (
          <option key={each} value={each}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}

function Tools() {
  const [after, before] = [valueOf(search.value, "after"), valueOf(search.value, "before")];
  const known = before === "" && kSpans.some(([span]) => span === after);
  const between = `${after.slice(0, 10) || "7 days before"} to ${before.slice(0, 10) || "now"}`;
  const spans = known ? kSpans : [...kSpans, ["between", between] as const];
  return (
    <form class="filters" aria-label="Fleet" onSubmit={(event) => event.preventDefault()}>
      <Choice label="Time" value={known ? after : "between"} options={spans} choose={(span) => span === "between" || setKeys({ after: span, before: null })} />
      <Choice label="By" value={byOf(search.value)} options={kBy} choose={(by) => setKeys({ by: by === "user" ? null : by })} />
      {kFilters.map((key) => {
        const value = valueOf(search.value, key);
        const word = kBy.find(([by]) => by === key)?.[1];
        return value === "" ? null : (
          <button key={key} type="button" class="chip" onClick={() => setKeys({ [key]: null })}>
            {word} {value} <span aria-hidden="true">✕</span>
            <span class="unseen">: show all</span>
          </button>
        );
      })}
      <a class="button" href={csvAddress(search.value)} download="fleet.csv">
        CSV
      </a>
    </form>
  );
}

function Tile({ word, value, note }: { readonly word: string; readonly value: string; readonly note?: string }) {
  return (
    <div class="figure-box">
      <dt>{word}</dt>
      <dd>
        {value}
        {note ? <span class="figure-note">{note}</span> : null}
      </dd>
    </div>
  );
}

const ofHeld = (part: number, { gpu_hours: held }: FleetSums) => (held > 0 ? share(part / held) : "");

function Tiles({ total }: { readonly total: FleetSums }) {
  const priced = total.priced_share !== null && total.priced_share < 0.995 ? `${share(total.priced_share)} priced` : "";
  return (
    <dl class="card figures">
      <Tile word="GPUs held" value={hours(total.gpu_hours)} />
      <Tile word="Busy" value={hours(total.busy_gpu_hours)} note={ofHeld(total.busy_gpu_hours, total)} />
      <Tile word="Lost" value={hours(total.lost_gpu_hours)} note={ofHeld(total.lost_gpu_hours, total)} />
      <Tile word="Not judged" value={hours(total.not_judged_gpu_hours)} note={ofHeld(total.not_judged_gpu_hours, total)} />
      {total.cost === null ? null : <Tile word="Cost" value={number(total.cost)} note={priced} />}
      {total.lost_cost === null ? null : <Tile word="Lost, money" value={number(total.lost_cost)} note={priced} />}
      <Tile word="Jobs" value={count(total.jobs)} note={total.running_jobs > 0 ? `${count(total.running_jobs)} running` : ""} />
      <Tile word="With issues" value={count(total.jobs_with_issues)} note={`of ${count(total.judged_jobs)} judged`} />
    </dl>
  );
}

function Found({ found }: { readonly found: Fleet }) {
  const doubt = doubtOf(found.total);
  return (
    <>
      <Hatch />
      <section class="card diagnosis" aria-labelledby="fleet-title">
        <h2 id="fleet-title">{headlineOf(found)}</h2>
        {doubt === "" ? null : <p>{doubt}</p>}
        <Causes found={found} />
      </section>
      <Tiles total={found.total} />
      <Idle idle={found.idle_now} />
      {found.total.jobs === 0 ? null : <Holders found={found} />}
      <Scatter found={found} />
      <Grid found={found} />
      <section class="card facts" aria-labelledby="fleet-weeks">
        <div class="section-head">
          <h2 id="fleet-weeks">Twelve weeks</h2>
          <p>GPU hours of each week: busy, lost, not judged</p>
        </div>
        <Weeks weeks={found.weeks} zone={zoneOf("utc")} />
      </section>
      <Losses found={found} />
      {found.left_out_jobs === 0 ? null : <p class="faint">{count(found.left_out_jobs)} older jobs are not counted.</p>}
    </>
  );
}

export function FleetPage() {
  const found = useSignal<Fleet | null>(null);
  const asked = useSignal<Poll | null>(null);
  const { from, to, ...rest } = parametersOf(search.value, 0);
  const view = JSON.stringify([rest, valueOf(search.value, "after"), valueOf(search.value, "before")]);
  useEffect(() => void (document.title = "Fleet · Stepscope"), []);
  useEffect(() => {
    const opened = poll(async (stop) => void (found.value = await readFleet(search.peek(), stop)), () => kPeriodMs);
    asked.value = opened;
    return () => opened.stop();
  }, [view]);
  const error = asked.value?.state.value.error ?? null;
  const zone = zoneOf("utc");
  const empty = found.value !== null && found.value.total.jobs === 0 && found.value.weeks.every(({ sums }) => sums.jobs === 0);
  return (
    <>
      <div class="page-head">
        <h1>Fleet</h1>
        {found.value === null ? null : <p class="faint">as of {clockTime(found.value.as_of_us / 1000, zone)} {zoneName(zone)}</p>}
      </div>
      <Tools />
      {asked.value === null ? null : <Fault what="The fleet" poll={asked.value} />}
      {found.value === null && error === null ? <Loading what="the fleet" class="loading-list" /> : null}
      {empty ? (
        <Empty title="Nothing ran in the last twelve weeks">
          <p>Once jobs run under the agent, the hours of their GPUs are added up here, a minute or two after they were measured.</p>
        </Empty>
      ) : null}
      {found.value === null || empty ? null : <Found found={found.value} />}
    </>
  );
}
