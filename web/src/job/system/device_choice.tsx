import { useSignal } from "@preact/signals";
import { plural } from "../../format";
import type { Job, Metrics } from "../../model";
import { search, setKeys } from "../../router";
import { useWatched } from "../head";
import { isFolded, kCpuRow, kGpuRow, seriesOf } from "../panels";
import { worstFirst } from "../summary";
import type { Span } from "../view";
import { chosen, nodeAsked, toggled, treeOf } from "./devices";

// The nodes and GPUs of the job with a tick each; the charts show those that are ticked.

const kWorst = 4;

const choose = (names: readonly string[]) => setKeys({ dev: names.join(",") }, true);

interface ChoiceProps {
  readonly job: Job;
  /** The samples of all devices, or those that were asked for. */
  readonly metrics: Metrics | null;
  readonly span: Span;
}

/** The devices that work least, or the nodes whose CPUs do most where there is no GPU. */
function worstNames(metrics: Metrics, span: Span): readonly string[] {
  const gpus = seriesOf(metrics.series, kGpuRow.metrics[0] ?? "");
  const series = gpus.length > 0 ? gpus : seriesOf(metrics.series, kCpuRow.metrics[0] ?? "");
  return worstFirst({ metric: "", what: "", many: series.length, worst: gpus.length > 0 ? "lowest" : "highest", series }, span).slice(0, kWorst).map(({ name }) => name);
}

/** The choice where series are folded: one node at a time has its own samples. */
function NodeChoice({ job }: { readonly job: Job }) {
  return (
    <label class="device-choice">
      <span>Devices</span>
      <select value={nodeAsked(job, search.value) ?? ""} onChange={(event) => choose([event.currentTarget.value].filter(Boolean))}>
        <option value="">all {job.nodes.length} nodes together</option>
        {job.nodes.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function DeviceChoice({ job, metrics, span }: ChoiceProps) {
  const filter = useSignal("");
  const open = useSignal(false);
  const watched = useWatched(job);
  const names = chosen(search.value);
  if (isFolded(job)) return <NodeChoice job={job} />;
  const gpus = job.nodes.reduce((sum, node) => sum + (node.gpus?.length ?? 0), 0);
  if (!watched && job.nodes.length + gpus < 3) return null; // one node with one GPU at most
  const tree = treeOf(job, metrics);
  const isOn = (name: string, node: string) => names.length === 0 || names.includes(name) || names.includes(node);
  const tick = (name: string, node: string, word: string) => (
    <label class="tick">
      <input type="checkbox" checked={isOn(name, node)} onChange={() => choose(toggled(names, name, tree))} />
      <span>{word}</span>
    </label>
  );
  const fits = (name: string) => name.toLowerCase().includes(filter.value.toLowerCase());
  return (
    <details class="card device-choice" onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>
        Devices: {names.length === 0 ? `all, ${plural(job.nodes.length, "node")}${gpus > 0 ? ` with ${plural(gpus, "GPU")}` : ""}` : names.join(", ")}
      </summary>
      <p class="device-tools">
        <input type="search" aria-label="Devices whose name contains" placeholder="Name contains…" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />
        <button type="button" disabled={metrics === null} onClick={() => metrics && choose(worstNames(metrics, span))}>Worst {kWorst}</button>
        <button type="button" disabled={names.length === 0} onClick={() => choose([])}>All</button>
      </p>
      <ul class="device-tree">
        {!open.value ? null : tree.filter(([node, own]) => [node, ...own].some(fits)).map(([node, own]) => (
          <li key={node}>
            {tick(node, node, node)}
            <ul>
              {own.filter((name) => fits(name) || fits(node)).map((name) => <li key={name}>{tick(name, node, name.slice(node.length + 1))}</li>)}
            </ul>
          </li>
        ))}
      </ul>
    </details>
  );
}
