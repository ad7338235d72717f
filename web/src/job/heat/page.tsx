import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { address, ask } from "../../api";
import { duration, metric as inUnit, plural } from "../../format";
import type { Heatmap, Job } from "../../model";
import { poll, type Poll } from "../../poll";
import { valueOf } from "../../query";
import { search, setKeys } from "../../router";
import { Empty, Fault, Loading } from "../../states";
import { paused } from "../data";
import { useTimeKeys, type View } from "../frame";
import { loadTables } from "../lazy_parts";
import { askForStrip } from "../strip/calls";
import { Toolbar } from "../toolbar";
import { isRunning, startMs, zoomOf } from "../view";
import { HeatCanvas } from "./canvas";
import { columnWeights, forcedNode, heatMetrics, type HeatOrder, type HeatRow, overallMean, rowsOf, sameRows } from "./cells";
import { hex, viridis } from "./viridis";

// The heat map: one metric of all devices of the job, so that the one that differs is seen at once.

const kColumns = 300;
const kPeriodMs = 5000;
const kMostTold = 200; // rows of the table

const orderOf = (query: string): HeatOrder => (valueOf(query, "order") === "mean" ? "mean" : "node");

/** The parameters of the call for this link. */
function askedFor(job: Job, query: string): Readonly<Record<string, string | number | null>> {
  const known = heatMetrics(job);
  const wanted = valueOf(query, "metric");
  const metric = known.some((each) => each.metric === wanted) ? wanted : (known[0]?.metric ?? "");
  const zoom = zoomOf(query);
  const start = startMs(job);
  const node = valueOf(query, "node");
  return {
    metric, columns: kColumns, rows: 2000,
    node: job.nodes.some(({ name }) => name === node) ? node : forcedNode(job, metric),
    from_us: zoom === null ? null : Math.max(0, Math.round((start + zoom.fromMs) * 1000)),
    to_us: zoom === null ? null : Math.round((start + zoom.toMs) * 1000),
  };
}

function useHeatmap(job: Job) {
  const map = useSignal<Heatmap | null>(null);
  const opened = useSignal<Poll | null>(null);
  const running = isRunning(job);
  const key = useComputed(() => JSON.stringify([askedFor(job, search.value), running && !paused.value && zoomOf(search.value) === null]));
  useSignalEffect(() => {
    const [parameters, follow] = JSON.parse(key.value) as [Readonly<Record<string, string | number | null>>, boolean];
    const read = async (stop: AbortSignal) => {
      map.value = await ask<Heatmap>(address(`/jobs/${encodeURIComponent(job.name)}/heatmap`, parameters), "matrix", { stop });
    };
    const asked = poll(read, () => (follow ? kPeriodMs : null));
    askForStrip(job.name, true); // in one request with the map
    opened.value = asked;
    return () => asked.stop();
  });
  return { map: map.value, poll: opened.value };
}

/** Percent is drawn from 0 to 100, whatever was measured; everything else from 0 to the highest value. */
const scaleOf = ({ unit, high }: Heatmap): readonly [number, number] => (unit === "%" ? [0, 100] : [0, high || 1]);

function ColourBar({ map }: { readonly map: Heatmap }) {
  const [low, high] = scaleOf(map);
  const many = 24;
  return (
    <p class="heat-scale">
      <span>{inUnit(low, map.unit)}</span>
      <svg width="144" height="12" aria-hidden="true">
        {Array.from({ length: many }, (_, i) => (
          <rect key={i} x={i * 6} width="6.5" height="12" fill={hex(viridis(i / (many - 1)))} />
        ))}
      </svg>
      <span>{inUnit(high, map.unit)}</span>
      <span class="faint">hatched: nothing measured</span>
    </p>
  );
}

export function sentenceOf(rows: readonly HeatRow[], mean: number | null, unit: string): string {
  const known = rows.filter(({ mean }) => mean !== null).sort((a, b) => (a.mean ?? 0) - (b.mean ?? 0));
  const [least, most] = [known[0], known[known.length - 1]];
  if (least === undefined || most === undefined) return "Nothing was measured here.";
  const silent = rows.length - known.length;
  const rest = silent === 0 ? "" : `; ${plural(silent, "row")} without a value`;
  return `${plural(rows.length, "row")}: mean ${inUnit(mean, unit)}, lowest mean ${least.name} ${inUnit(least.mean, unit)}, highest mean ${most.name} ${inUnit(most.mean, unit)}${rest}.`;
}

function RowTable({ rows, map: { unit, bin_us } }: { readonly rows: readonly HeatRow[]; readonly map: Heatmap }) {
  const cell = duration(bin_us / 1e6); // a cell is a mean: what was higher or lower within it is not known
  const heads = ["Mean", `Lowest mean of ${cell}`, `Highest mean of ${cell}`];
  return (
    <details class="heat-table">
      <summary>The rows as a table</summary>
      <div class="scroll row-cards" tabIndex={0} role="region" aria-label="Rows of the heat map">
        <table>
          <thead>
            <tr>
              {["Device", ...heads].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, kMostTold).map(({ name, mean, least, most }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {[mean, least, most].map((value, i) => (
                  <td key={i} data-label={heads[i]}>
                    {inUnit(value, unit)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > kMostTold ? <p class="faint">The first {kMostTold} of {plural(rows.length, "row")}.</p> : null}
    </details>
  );
}

/** Shows another metric; the kept cell goes where the new rows are of other devices. */
function chooseMetric(shown: string, wanted: string): void {
  setKeys(sameRows(shown, wanted) ? { metric: wanted } : { metric: wanted, dev: null });
}

function Choices({ job }: { readonly job: Job }) {
  const asked = askedFor(job, search.value);
  const forced = forcedNode(job, String(asked["metric"]));
  return (
    <div class="heat-choices" role="group" aria-label="What the heat map shows">
      <label>
        <span>Metric</span>
        <select value={String(asked["metric"])} onChange={(event) => chooseMetric(String(asked["metric"]), event.currentTarget.value)}>
          {heatMetrics(job).map(({ metric, word }) => (
            <option key={metric} value={metric}>
              {word}
            </option>
          ))}
        </select>
      </label>
      {job.nodes.length < 2 ? null : (
        <label>
          <span>Node</span>
          <select value={String(asked["node"] ?? "")} onChange={(event) => setKeys({ node: event.currentTarget.value, dev: null })}>
            {forced === null ? <option value="">all {job.nodes.length}</option> : null}
            {job.nodes.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        <span>Order</span>
        <select value={orderOf(search.value)} onChange={(event) => setKeys({ order: event.currentTarget.value === "mean" ? "mean" : null })}>
          <option value="node">node, device</option>
          <option value="mean">lowest mean first</option>
        </select>
      </label>
      {forced === null ? null : <span class="faint">One node at a time: all have too many rows.</span>}
    </div>
  );
}

export function Page({ view }: { readonly view: View }) {
  const { job, data, whole, shown, zoomed, zone, found: steps } = view;
  useTimeKeys(data);
  useEffect(loadTables, []);
  const found = useHeatmap(job);
  const order = orderOf(search.value);
  const { map } = found;
  const weights = useMemo(() => (map === null ? [] : columnWeights(map, shown)), [map, shown.fromMs, shown.toMs]);
  const rows = useMemo(() => (map === null ? [] : rowsOf(map, order, weights)), [map, order, weights]);
  const failed = found.poll?.state.value.error ?? null;
  return (
    <section aria-labelledby="heat-title">
      <h2 id="heat-title" class="unseen">
        Heat map
      </h2>
      <Toolbar job={job} whole={whole} shown={shown} zoomed={zoomed} zone={zone} poll={found.poll} metrics={null} found={steps} />
      <div class="card heat">
        <Choices job={job} />
        {found.poll === null ? null : <Fault what="The heat map" poll={found.poll} />}
        {map === null && failed === null ? <Loading what="the heat map" class="loading-heat" /> : null}
        {map !== null && rows.length === 0 ? <Empty title="Nothing was measured"><p>No device of this job has samples of this metric in this span of time.</p></Empty> : null}
        {map !== null && rows.length > 0 ? (
          <>
            <ColourBar map={map} />
            <HeatCanvas view={view} map={map} rows={rows} scale={scaleOf(map)} />
            <p class="summary">
              {sentenceOf(rows, overallMean(rows, weights, map), map.unit)}
              {map.left_out > 0 ? ` ${plural(map.left_out, "row")} left out.` : ""}
            </p>
            <RowTable rows={rows} map={map} />
          </>
        ) : null}
      </div>
    </section>
  );
}
