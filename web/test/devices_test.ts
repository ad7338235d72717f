import assert from "node:assert/strict";
import { test } from "node:test";
import { useOf } from "../src/job/brush";
import { isMapped } from "../src/job/devices";
import { heatMetrics } from "../src/job/heat/cells";
import { meanInSpan } from "../src/job/overview/figures";
import { kGpuRow, kMemoryRow, panelsOf } from "../src/job/panels";
import { endsOfRange, legendOrder, summaryOf } from "../src/job/summary";
import { systemRows } from "../src/job/system/rows";
import { worstOf } from "../src/job/worst";
import type { Job, Metrics, Series } from "../src/model";

// Jobs of several GPUs or nodes: the figures and the strip are of all of them, and the one that differs is named.

const series = (metric: string, device: string, mean: readonly (number | null)[]): Series => ({
  metric, node: "n1", device, unit: "%", times_us: mean.map((_, i) => i * 1e6), mean,
  min: mean.map((value) => (value === null ? null : value - 1)), max: mean.map((value) => (value === null ? null : value + 1)),
});
const metrics = (...list: Series[]): Metrics => ({ interval_ms: 500, bin_us: 1e6, from_us: 0, to_us: 3e6, cursor: "c", agents: [], series: list });
const job = (gpus: number) => ({ name: "j", nodes: [{ name: "n1", cores: 2, gpus: Array(gpus).fill({}) }], profiler_rule_evaluation_statuses: [] }) as unknown as Job;
const gpus = (...means: readonly (readonly (number | null)[])[]) => metrics(...means.map((mean, i) => series("gpu_util_percent", `${i}`, mean)));
const kSpan = { fromMs: 0, toMs: 2000 };

test("figures are the mean over all GPUs, also where the chart has a line for each", () => {
  for (const many of [1, 2, 5, 8]) {
    const found = gpus([90, 90], ...Array(many - 1).fill([0, 0]));
    assert.equal(meanInSpan(job(many), found, "gpu", kSpan), 90 / many);
  }
  assert.equal(meanInSpan(job(2), metrics(), "gpu", kSpan), null);
});

test("the I/O wait beside the CPU is no part of its figure", () => {
  const found = metrics(series("node_cpu_percent", "", [50, 70]), series("node_iowait_percent", "", [8, 8]));
  assert.equal(meanInSpan(job(0), found, "cpu", kSpan), 60);
});

test("the strip is the use of all GPUs together, and of the CPUs where there is no GPU", () => {
  assert.deepEqual(useOf(gpus([100, 100], [0, 50]))?.mean, [50, 75]);
  assert.deepEqual(useOf(gpus([100, 100], [null, 50]))?.mean, [100, 75]);
  assert.deepEqual(useOf(metrics(series("node_cpu_percent", "", [50, 70])))?.mean, [50, 70]);
  assert.equal(useOf(metrics()), null);
});

const chart = (found: Metrics) => panelsOf(job(found.series.length), found, [], [kGpuRow])[0] ?? assert.fail();

test("one dead GPU of many is named beside their mean", () => {
  const eight = chart(gpus(...[90, 80, 0, 99, 90, 90, 90, 90].map((mean) => [mean, mean])));
  assert.equal(eight.traces.length, 1);
  assert.match(summaryOf(eight, kSpan, "relative", 0), /^Mean of 8 GPUs: mean 79 %, .*; lowest mean n1 2: 0 %, highest n1 3: 99 %\.$/);
  const folded = chart(metrics({ ...series("gpu_util_percent", "", [50]), of: 64 }));
  assert.equal(endsOfRange(folded, kSpan), "", "the service told of none");
  assert.equal(folded.devices?.many, 64);
});

test("the worst row of a coarse heat map is named, and one without samples is not", () => {
  const rows = ["0", "1", "2"].map((device) => ({ node: "n1", device }));
  const map = { metric: "gpu_util_percent", unit: "%", bin_us: 1e6, times_us: [0, 1e6], rows, left_out: 0, low: 0, high: 254, matrix: Buffer.from([90, 10, 20, 30, 255, 255]).toString("base64") };
  assert.deepEqual([worstOf(map, "lowest", kSpan)?.name, worstOf(map, "lowest", kSpan)?.mean], ["n1 1", 25]);
  assert.equal(worstOf(map, "highest", kSpan)?.name, "n1 0");
  assert.equal(worstOf({ ...map, rows: [], matrix: "" }, "lowest", kSpan), null);
});

test("the legend of a few devices begins with the worst; a GPU without samples is first", () => {
  const three = chart(gpus([90, 90], [10, 10], [50, 50]));
  assert.deepEqual(legendOrder(three, kSpan).map(({ label }) => label), ["n1 1", "n1 2", "n1 0"]);
  assert.deepEqual(three.traces.map(({ label }) => label), ["n1 0", "n1 1", "n1 2"], "colours stay");
  assert.equal(legendOrder(chart(gpus([90, 90], [10, 10], [null, null])), kSpan)[0]?.label, "n1 2");
  const nodes = metrics(...[20, 97].map((mean, i) => ({ ...series("memory_used_percent", "", [mean]), node: `n${i}` })));
  const memory = panelsOf(job(0), nodes, [], [kMemoryRow])[0] ?? assert.fail();
  assert.deepEqual(legendOrder(memory, kSpan).map(({ label }) => label), ["n1", "n0"], "much memory in use is worse than little");
});

test("the devices of a chart lead to a heat map that there is", () => {
  const mapped = heatMetrics(job(1)).map(({ metric }) => metric);
  const rows = systemRows(job(1)).filter(({ devices }) => devices !== undefined);
  assert.deepEqual(rows.filter(({ metrics: [metric = ""] }) => isMapped(metric)).map(({ id }) => id), ["gpu", "gpumem", "gpupower", "cpu", "memory"]);
  for (const { metrics: [metric = ""] } of rows) assert.ok(!isMapped(metric) || mapped.includes(metric), metric);
});
