import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job, Metrics, RankSteps, Series, Steps } from "../src/model";
import type { Tab } from "../src/tabs";
import { isFolded, panelsOf } from "../src/job/panels";
import { systemRows } from "../src/job/system/rows";
import { rankAskedFor, ranksToChoose, sampledNodes, stepsQuery } from "../src/job/ranks";
import { ranksNote } from "../src/job/steps/ranks_note";
import { append } from "../src/job/traces";

// Jobs of many nodes, devices and ranks.

const job = (nodes: number, gpus: number, ranks = 0) => ({
  name: "j", nodes: Array.from({ length: nodes }, (_, i) => ({ name: `n${i}`, cores: 2, gpus: Array(gpus).fill({}), absent: [] })),
  ranks: Array.from({ length: ranks }, (_, rank) => ({ rank, node: null })),
}) as unknown as Job;
const folded = (metric: string, of: number, times: number[], mean: (number | null)[]): Series => ({
  metric, node: "", device: "", unit: "", of, times_us: times.map((s) => s * 1e6), mean,
  min: mean.map((v) => (v === null ? null : v - 1)), max: mean.map((v) => (v === null ? null : v + 1)), sum: mean.map((v) => (v === null ? null : v * of)),
});
const metrics = (...series: Series[]): Metrics => ({ interval_ms: 500, bin_us: 1e6, from_us: 0, to_us: 3e6, cursor: "c", agents: [], series });
const panel = (id: string, ...series: Series[]) =>
  panelsOf(job(64, 8), metrics(...series), [], systemRows(job(64, 8))).find((each) => each.id === id) ?? assert.fail(id);
const steps = (leftOut: number, ...ranks: number[]): Steps => ({ ranks: ranks.map((rank) => ({ rank }) as RankSteps), left_out: leftOut });

test("many nodes or many GPUs are folded, few are not", () => {
  assert.deepEqual([job(1, 8), job(16, 0), job(5, 8), job(17, 0), job(6, 8), job(64, 8)].map(isFolded), [false, false, false, true, true, true]);
});

test("a folded series is a mean with its band", () => {
  for (const [id, metric, of, what] of [["gpu", "gpu_util_percent", 512, "GPUs"], ["cpu", "node_cpu_percent", 64, "nodes"], ["memory", "memory_used_percent", 3, "nodes"]] as const) {
    const { traces } = panel(id, folded(metric, of, [0, 1, 2], [50, null, 60]));
    assert.deepEqual(traces.map(({ label, mean, low, high }) => ({ label, mean, low, high })),
      [{ label: `Mean of ${of} ${what}`, mean: [50, null, 60], low: [49, null, 59], high: [51, null, 61] }]);
  }
  assert.equal(panel("memory", folded("memory_used_percent", 1, [0], [5])).traces[0]?.label, "In use");
});

test("folded disks are added up, and the note says how many", () => {
  const disk = panel("disk", folded("disk_read_bytes_per_second", 128, [0, 1], [10, null]), folded("disk_write_bytes_per_second", 128, [0, 1], [1, 2]));
  assert.deepEqual(disk.traces.map(({ label, mean }) => [label, mean]), [["Read", [1280, null]], ["Write", [128, 256]]]);
  assert.equal(disk.note, "sum of 128 disks");
  assert.equal(panel("cpu", folded("node_cpu_percent", 64, [0], [1])).note, "mean of each node's cores");
});

test("what only some GPUs tell has a chart when it is told", () => {
  const ids = (...series: Series[]) => panelsOf(job(1, 8), metrics(...series), [], systemRows(job(1, 8))).map(({ id }) => id);
  assert.ok(!ids().includes("gpupower") && ids().includes("gpu"));
  assert.ok(ids(folded("gpu_power_watts", 8, [0], [300])).includes("gpupower"));
  assert.deepEqual(panel("gpuwork", folded("gpu_tensor_active_percent", 512, [0], [5])).traces.map(({ label, mean }) => [label, mean]), [["Tensor cores", [5]]]);
});

test("pressure of many nodes is their mean", () => {
  assert.deepEqual(panel("pressure", folded("pressure_io_percent", 64, [0], [5])).traces.map(({ label, mean }) => [label, mean]), [["Disk", [5]]]);
});

test("what follows goes on in sums, and of the most series", () => {
  const joined = append(metrics(folded("load_1m", 64, [0, 1], [1, 2])), metrics(folded("load_1m", 60, [1, 2], [3, 4]))).series;
  assert.equal(joined.length, 1);
  assert.deepEqual([joined[0]?.of, joined[0]?.sum, joined[0]?.mean], [64, [64, 180, 240], [1, 3, 4]]);
  const plain = append(metrics({ ...folded("load_1m", 1, [0], [1]), of: undefined, sum: undefined }), metrics()).series[0];
  assert.equal(plain?.of, undefined);
});

test("of many ranks Steps reads some, or the one that the link chooses; other parts read the one that they draw", () => {
  const small = job(1, 8, 8), large = job(64, 8, 512);
  const asked = (of: Job, tab: Tab, query: string) => stepsQuery(tab, rankAskedFor(of, tab, query));
  assert.deepEqual(asked(small, "steps", "?rank=3"), { most: 8 });
  assert.deepEqual(asked(large, "steps", ""), { most: 8 });
  assert.deepEqual(asked(large, "steps", "?rank=77"), { rank: 77 });
  assert.deepEqual(asked(large, "steps", "?rank=900"), { most: 8 });
  assert.deepEqual(asked(small, "overview", ""), { most: 1 });
  assert.deepEqual(asked(small, "system", "?rank=3"), { rank: 3 });
  assert.deepEqual(asked(small, "system", "?rank=8"), { most: 1 });
  assert.equal(ranksNote(steps(504, 0, 73, 146, 219, 292, 365, 438, 511)), "8 of 512 ranks read");
  assert.equal(ranksNote(steps(0, 77)), "");
  assert.equal(ranksToChoose(large, steps(504, 0, 73)).length, 512);
});

test("of folded nodes it is known how many had samples, not which", () => {
  const some = metrics(folded("memory_used_percent", 62, [0], [5]), folded("gpu_util_percent", 512, [0], [5]));
  assert.deepEqual(sampledNodes(job(64, 8), some), { many: 62, missing: [] });
  const each = { ...folded("memory_used_percent", 1, [0], [5]), node: "n1", of: undefined, sum: undefined };
  assert.deepEqual(sampledNodes(job(2, 0), metrics(each)), { many: 1, missing: ["n0"] });
});
