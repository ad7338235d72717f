import assert from "node:assert/strict";
import { test } from "node:test";
import { withTimes } from "../src/runs";

const one = { metric: "gpu_util_percent", node: "n1", device: "gpu0", unit: "%", min: [], max: [], mean: [1, 2, null, 3] };
const head = { interval_ms: 500, bin_us: 2e6, from_us: 0, to_us: 12e6, cursor: "", agents: [] };

test("bins of runs have their times, one after the other", () => {
  const metrics = withTimes({ ...head, series: [{ ...one, runs: [[4e6, 3], [10e6, 1]] }, { ...one, runs: [], mean: [] }] });
  assert.deepEqual(metrics.series[0]?.times_us, [4e6, 6e6, 8e6, 10e6]);
  assert.deepEqual(metrics.series[1]?.times_us, []);
  assert.deepEqual(metrics.series[0]?.mean, [1, 2, null, 3]);
  assert.ok(!("runs" in (metrics.series[0] ?? {})));
});
