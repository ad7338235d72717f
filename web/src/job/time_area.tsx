import type { ComponentChildren } from "preact";
import type { Job } from "../model";
import { valueOf } from "../query";
import { search, setKeys } from "../router";
import { Fault, Loading } from "../states";
import { paused } from "./data";
import { useTimeKeys, type View } from "./frame";
import { charts, tables } from "./lazy_parts";
import { ranksToChoose, sampledNodes } from "./ranks";
import { Toolbar } from "./toolbar";

// The charts of a part of the page below the bar with their span of time, and what is said where they are missing.

function RankChoice({ job, steps, rank, note }: View & { readonly note: string | undefined }) {
  if (steps === null) return null;
  const ranks = ranksToChoose(job, steps);
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
      {note ? <span>{note}</span> : null}
    </label>
  );
}

function Partial({ job, metrics }: View) {
  if (metrics === null || valueOf(search.value, "dev") !== "") return null;
  const { many, missing } = sampledNodes(job, metrics);
  if (many >= job.nodes.length || many === 0) return null;
  return (
    <p class="notice notice-amber" role="status">
      {many} of {job.nodes.length} nodes have samples in this span of time.{missing.length === 0 ? null : ` Missing: ${missing.join(", ")}.`}
    </p>
  );
}

/** Placeholders of the charts of a rank's steps; a job without ranks has a single chart, which says so. */
export function StepsLoading({ job, tall }: { readonly job: Job; readonly tall?: boolean }) {
  const places = job.ranks.length === 0 || !tall ? [""] : ["", " loading-tall", ""];
  return <>{places.map((high, i) => <Loading key={i} what="the steps" class={`card loading-chart${high}`} />)}</>;
}

/** Whether the charts of this view wait for their samples or their program. */
export function waits({ data, metrics, zoomed }: View): boolean {
  if (metrics === null) return !data.metricsPoll.value?.state.value.error;
  return !isSilent({ metrics, zoomed }) && charts.value === null;
}

const isSilent = ({ metrics, zoomed }: Pick<View, "metrics" | "zoomed">) => metrics !== null && metrics.series.length === 0 && !zoomed;

interface AreaProps {
  readonly view: View;
  readonly title: string;
  /** How many of the ranks were read, where all of them are shown. */
  readonly ranksNote?: string;
  /** The charts, once their program is here. */
  readonly draw: (drawing: { readonly Chart: NonNullable<NonNullable<typeof charts.value>["Chart"]> }) => ComponentChildren;
  readonly loading: ComponentChildren;
  /** A choice that stands above the charts. */
  readonly above?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function TimeArea({ view, title, ranksNote, draw, loading, above, children }: AreaProps) {
  const { job, data, metrics, whole, shown, zoomed, zone, found } = view;
  useTimeKeys(data);
  const { Chart } = charts.value ?? {};
  const { NoSamples, Removed, LayoutChoice } = tables.value ?? {};
  const silent = isSilent(view);
  return (
    <section aria-labelledby="charts-title" class="time-area" data-cols={valueOf(search.value, "cols")} data-density={valueOf(search.value, "density")}>
      <h2 id="charts-title" class="unseen">
        {title}
      </h2>
      <Toolbar job={job} whole={whole} shown={shown} zoomed={zoomed} zone={zone} poll={data.metricsPoll.value} metrics={valueOf(search.value, "dev") === "" ? metrics : null} found={found}>
        <RankChoice {...view} note={ranksNote} />
        {LayoutChoice ? <LayoutChoice /> : null}
      </Toolbar>
      {above}
      {data.metricsPoll.value ? <Fault what="The charts" poll={data.metricsPoll.value} /> : null}
      {data.stepsPoll.value && !waits(view) ? <Fault what="The step times" poll={data.stepsPoll.value} /> : null}
      {Removed ? <Removed {...view} /> : null}
      <Partial {...view} />
      {waits(view) ? <div class="charts">{loading}</div> : null}
      {silent && NoSamples ? <NoSamples job={job} /> : null}
      {metrics !== null && !silent && Chart ? (
        <div class="charts" data-live={paused.value || zoomed ? "no" : "yes"}>
          {draw({ Chart })}
        </div>
      ) : null}
      {children}
    </section>
  );
}
