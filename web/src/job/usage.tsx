import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, ask, jobPath } from "../api";
import { metric as inUnit, plural } from "../format";
import { poll, type Poll } from "../poll";
import { Fault, Loading } from "../states";
import type { View } from "./frame";
import { type Column, kColumns, kWords, ordered, type Usage, worstNode } from "./usage_rows";

// How busy each node was, as percentiles: of the whole job, or of the span on screen. It is asked for when it is opened.

const kPeriodMs = 30_000;
function Table({ found: { rows, of } }: { readonly found: Usage }) {
  const by = useSignal<Column>("node");
  if (rows.length === 0) return <p>Nothing was measured here.</p>;
  const head = (column: Column, word: string) => (
    <th key={column} scope="col" aria-sort={by.value === column && column !== "node" ? (column === "min" ? "ascending" : "descending") : undefined}>
      <button type="button" class="sort" onClick={() => (by.value = column)}>{word}</button>
    </th>
  );
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Use of each node">
        <table>
          <thead>
            <tr>
              <th scope="col">Metric</th>
              {head("node", "Node")}
              {kColumns.map((column) => head(column, column))}
            </tr>
          </thead>
          <tbody>
            {ordered(rows, by.value).map((row) => (
              <tr key={`${row.metric} ${row.node}`}>
                <th scope="row">{kWords[row.metric] ?? row.metric}</th>
                <td>{row.node === worstNode(rows, row.metric) ? <strong>{row.node}</strong> : row.node}</td>
                {kColumns.map((column) => <td key={column}>{inUnit(row[column], row.unit)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="faint">Of {of}. A node in bold has the worst median.</p>
    </>
  );
}

export function NodeUsage({ view }: { readonly view: View }) {
  const { job, shown, zoomed, shared } = view;
  const open = useSignal(false);
  const found = useSignal<Usage | null>(null);
  const asked = useSignal<Poll | null>(null);
  const part = zoomed ? { from_us: Math.round(shown.fromMs * 1000), to_us: Math.round(shown.toMs * 1000) } : {};
  useEffect(() => {
    if (!open.value) return undefined;
    const opened = poll(async (stop) => {
      found.value = await ask<Usage>(address(`${jobPath(job.name)}/usage`, part), "rows", { stop });
    }, () => (shared.live ? kPeriodMs : null));
    asked.value = opened;
    return () => opened.stop();
  }, [open.value, job.name, shared.live, part.from_us, part.to_us]);
  return (
    <details class="card usage" onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>
        <h2>Use of {plural(job.nodes.length, "node")} in percentiles</h2> <span class="faint">{zoomed ? "of the span on screen" : "of the whole job"}</span>
      </summary>
      {asked.value === null ? null : <Fault what="The use of the nodes" poll={asked.value} />}
      {!open.value ? null : found.value === null ? <Loading what="the use of the nodes" class="loading-chart" /> : <Table found={found.value} />}
    </details>
  );
}
