import assert from "node:assert/strict";
import { test } from "node:test";
import { ordered, worstNode } from "../src/job/usage_rows";

const row = (node: string, metric: string, p50: number) => ({ node, metric, unit: "%", count: 9, max: p50 + 2, p99: p50 + 1, p95: p50 + 1, p90: p50, p50, min: 0 });
const kRows = [row("a", "node_cpu_percent", 40), row("a", "gpu_util_percent", 60), row("b", "node_cpu_percent", 70), row("b", "gpu_util_percent", 20), row("a", "new_percent", 1)];
const names = (column: "node" | "p50" | "max") => ordered(kRows, column).map(({ metric, node }) => `${metric.split("_")[0]} ${node}`);

test("rows stand by metric, GPUs first, and by a column with the worst first", () => {
  assert.deepEqual(names("node"), ["gpu a", "gpu b", "node a", "node b", "new a"]);
  assert.deepEqual(names("p50"), ["gpu b", "gpu a", "node b", "node a", "new a"], "little use of a GPU is worst, much of a CPU");
  assert.deepEqual(names("max"), names("p50"));
});

test("the worst node is that with the worst median, where they differ", () => {
  assert.equal(worstNode(kRows, "gpu_util_percent"), "b");
  assert.equal(worstNode(kRows, "node_cpu_percent"), "b");
  assert.equal(worstNode(kRows, "new_percent"), null, "one alone");
  assert.equal(worstNode([row("a", "x", 5), row("b", "x", 5)], "x"), null);
});
