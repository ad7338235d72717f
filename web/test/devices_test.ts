import assert from "node:assert/strict";
import { test } from "node:test";
import { useOf } from "../src/job/brush";
import { meanInSpan } from "../src/job/overview/figures";
import type { Job, Metrics, Series } from "../src/model";

// Jobs of several GPUs or nodes: the figures and the strip are of all of them, and the one that differs is named.

const series = (metric: string, device: string, mean: readonly (number | null)[]): Series => ({
  metric, node: "n1", device, unit: "%", times_us: mean.map((_, i) => i * 1e6), mean,
  min: mean.map((value) => (value === null ? null : value - 1)), max: mean.map((value) => (value === null ? null : value + 1)),
});
const metrics = (...list: Series[]): Metrics => ({ interval_ms: 500, bin_us: 1e6, from_us: 0, to_us: 3e6, cursor: "c", agents: [], series: list });
const job = (gpus: number) => ({ name: "j", nodes: [{ name: "n1", cores: 2, gpus: Array(gpus).fill({}) }], profiler_rule_evaluation_statuses: [] }) as unknown as Job;
const gpus = (...means: readonly (readonly (number | null)[])[]) => metrics(...means.map((mean, i) => series("gpu_util_percent", `${i}`, mean)));
const kSpan = { fromMs: 0, toMs: 10_000 };

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
