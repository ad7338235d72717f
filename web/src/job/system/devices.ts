import type { Job, Metrics, Series } from "../../model";
import { valueOf } from "../../query";
import { nameOf } from "../devices";
import { isFolded } from "../panels";

// Which devices System shows: all, or those that the link names as `dev=NODE,NODE DEVICE`.

/** The nodes and devices that the link names, in its order; none: all are shown. */
export const chosen = (query: string): readonly string[] => valueOf(query, "dev").split(",").filter(Boolean);

const isGpu = ({ metric }: Series) => metric.startsWith("gpu_");

/** A node is chosen with all that it has; a GPU with what its node has but other GPUs. */
function isShown(series: Series, names: readonly string[]): boolean {
  const { node } = series;
  return names.some((name) => name === node || (isGpu(series) ? name === nameOf(series) : name.startsWith(`${node} `)));
}

/** The samples of the chosen devices; of all where none of the chosen has samples. */
export function shownPart(metrics: Metrics, names: readonly string[]): Metrics {
  const series = names.length === 0 ? [] : metrics.series.filter((each) => isShown(each, names));
  return series.length === 0 ? metrics : { ...metrics, series };
}

/** The node to ask for alone: of a job whose series the service folds, devices of one node can be shown. */
export function nodeAsked(job: Job, query: string): string | null {
  const names = chosen(query);
  if (names.length === 0 || !isFolded(job)) return null;
  const { name } = job.nodes.find(({ name }) => names.every((each) => each === name || each.startsWith(`${name} `))) ?? {};
  return name ?? null;
}

/** The nodes with their GPUs, as far as samples of each are known. */
export function treeOf(job: Job, metrics: Metrics | null): readonly (readonly [node: string, gpus: readonly string[]])[] {
  const gpus = (metrics?.series ?? []).filter(({ metric, device }) => metric === "gpu_util_percent" && device !== "");
  return job.nodes.map(({ name }) => [name, gpus.filter(({ node }) => node === name).map(nameOf)] as const);
}

/** The choice after a tick: a node stands for its GPUs, and all nodes for no choice. */
export function toggled(names: readonly string[], name: string, tree: ReturnType<typeof treeOf>): readonly string[] {
  const [node, gpus] = tree.find(([each, own]) => each === name || own.includes(name)) ?? [name, []];
  const all = names.length === 0 ? tree.map(([each]) => each) : names;
  const others = all.filter((each) => each !== node && !gpus.includes(each));
  const before = all.includes(node) ? gpus : gpus.filter((each) => all.includes(each));
  const whole = all.includes(node);
  let own: readonly string[];
  if (name === node) own = whole ? [] : [node];
  else {
    const left = before.includes(name) ? before.filter((each) => each !== name) : gpus.filter((each) => each === name || before.includes(each));
    own = left.length === gpus.length ? [node] : left;
  }
  const next = tree.flatMap(([each, devices]) => (each === node ? own : others.filter((other) => other === each || devices.includes(other))));
  return next.length === tree.length && tree.every(([each]) => next.includes(each)) ? [] : next;
}
