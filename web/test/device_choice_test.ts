import assert from "node:assert/strict";
import { test } from "node:test";
import { chosen, nodeAsked, shownPart, toggled } from "../src/job/system/devices";
import type { Job, Metrics } from "../src/model";

const series = (metric: string, node: string, device = "") => ({ metric, node, device });
const metrics = (...list: object[]) => ({ series: list }) as unknown as Metrics;
const kFound = metrics(
  series("gpu_util_percent", "n1", "0"), series("gpu_util_percent", "n1", "1"), series("gpu_util_percent", "n2", "0"),
  series("node_cpu_percent", "n1"), series("node_cpu_percent", "n2"), series("disk_read_bytes_per_second", "n1", "sda"),
);
const shown = (...names: string[]) => shownPart(kFound, names).series.map(({ metric, node, device }) => `${metric.split("_")[0]} ${node} ${device}`.trim());
const kTree = [["n1", ["n1 0", "n1 1"]], ["n2", ["n2 0"]]] as const;
const job = (nodes: number, gpus: number) => ({ nodes: Array.from({ length: nodes }, (_, i) => ({ name: `n${i + 1}`, gpus: Array(gpus).fill({}) })) }) as unknown as Job;

test("a node is shown with all that it has, a GPU with its node but without other GPUs", () => {
  assert.deepEqual(shown("n1 1"), ["gpu n1 1", "node n1", "disk n1 sda"]);
  assert.deepEqual(shown("n2"), ["gpu n2 0", "node n2"]);
  assert.deepEqual(shown("n1 0", "n2 0"), ["gpu n1 0", "gpu n2 0", "node n1", "node n2", "disk n1 sda"]);
  for (const names of [[], ["n9"], ["n"]]) assert.equal(shownPart(kFound, names), kFound, "none that there is: all");
});

test("a tick takes a device out of all, and all ticks are no choice", () => {
  assert.deepEqual(toggled([], "n1 0", kTree), ["n1 1", "n2"]);
  assert.deepEqual(toggled(["n1 1", "n2"], "n1 0", kTree), []);
  assert.deepEqual(toggled([], "n2", kTree), ["n1"]);
  assert.deepEqual(toggled(["n2"], "n1 1", kTree), ["n1 1", "n2"]);
  assert.deepEqual(toggled(["n1 1"], "n1", kTree), ["n1"]);
  assert.deepEqual(toggled(["n1"], "n1", kTree), [], "nothing chosen shows all");
});

test("of a folded job one node is asked for alone", () => {
  assert.equal(nodeAsked(job(20, 8), "?dev=n3"), "n3");
  assert.equal(nodeAsked(job(20, 8), "?dev=n3+0,n3+7"), "n3");
  assert.equal(nodeAsked(job(20, 8), "?dev=n3,n4"), null);
  assert.equal(nodeAsked(job(20, 8), ""), null);
  assert.equal(nodeAsked(job(2, 8), "?dev=n1"), null, "all are there");
  assert.deepEqual(chosen("?dev=n1,n2+0"), ["n1", "n2 0"]);
});
