import assert from "node:assert/strict";
import { test } from "node:test";
import { columnWeights, forcedNode, heatMetrics, kNoValue, overallMean, rowsOf, sameRows, valueOfByte } from "../src/job/heat/cells";
import { hex, viridis } from "../src/job/heat/viridis";
import { coresOf, memoryOf } from "../src/job/overview/node_limits";
import { placed } from "../src/job/steps/bars";
import { stallsIn, stallsOf } from "../src/job/stalls";
import { withSingleSteps } from "../src/job/steps/single_steps";
import { endsOf } from "../src/job/steps/step_panels";
import { goesOn, spanWords } from "../src/job/view";
import { wheelFactor } from "../src/job/wheel";
import type { Heatmap, Job, JobNode, RankSteps, StepRows } from "../src/model";

const map = (cells: readonly number[], rows: readonly string[], more: Partial<Heatmap> = {}): Heatmap => ({
  metric: "gpu_util_percent", unit: "%", bin_us: 1e6, times_us: [0, 1e6], rows: rows.map((device) => ({ node: "n1", device })), left_out: 0, low: 0, high: 127,
  matrix: btoa(String.fromCharCode(...cells)), ...more,
});

test("a heat map's bytes are values, and a cell without one is none", () => {
  assert.deepEqual([0, 254, 127, kNoValue, undefined].map((byte) => valueOfByte(byte, { low: 10, high: 137 })), [10, 137, 73.5, null, null]);
  const [first, second] = rowsOf(map([100, 200, kNoValue, kNoValue], ["0", ""]), "node");
  assert.deepEqual([first?.name, first?.mean, first?.least, first?.most], ["n1 0", 75, 50, 100]);
  assert.deepEqual([second?.name, second?.mean, second?.least], ["n1", null, null]);
});

test("rows by mean begin with the lowest; rows without a value come last", () => {
  assert.deepEqual(rowsOf(map([200, 200, kNoValue, kNoValue, 2, 4], ["0", "1", "2"]), "mean").map(({ name }) => name), ["n1 2", "n1 0", "n1 1"]);
});

test("a bin counts by its part that lies in the span, and all rows together as the overview counts them", () => {
  const found = map([0, 200, 100, kNoValue], ["0", "1"]); // bins from 0 s to 2 s
  assert.deepEqual(columnWeights(found, { fromMs: 500, toMs: 1250 }), [0.5, 0.25]);
  const weights = columnWeights(found, { fromMs: 500, toMs: 2000 });
  const rows = rowsOf(found, "node", weights);
  assert.deepEqual(rows.map(({ mean }) => Math.round((mean ?? 0) * 10) / 10), [66.7, 50]);
  assert.equal(Math.round(10 * (overallMean(rows, weights, found) ?? 0)) / 10, 75, "(0.5 x 25 + 1 x 100) / 1.5");
  assert.deepEqual(columnWeights(found, { fromMs: 9e9, toMs: 9.1e9 }), [1, 1], "an answer of the span before");
});

test("a kept cell stays with a metric of the same devices alone", () => {
  assert.equal(sameRows("gpu_util_percent", "gpu_power_watts"), true);
  assert.equal(sameRows("node_cpu_percent", "memory_used_percent"), true);
  assert.equal(sameRows("cpu_util_percent", "node_cpu_percent"), false);
});

test("a matrix that is cut short gives cells without values, never those of another row", () => {
  const rows = rowsOf(map([10, 20, 30], ["0", "1", "2"]), "node");
  assert.deepEqual(rows.map(({ cells }) => [...cells]), [[10, 20], [30, kNoValue], [kNoValue, kNoValue]]);
});

test("a matrix that is no base64 gives cells without values", () => {
  assert.deepEqual(rowsOf(map([], ["0"], { matrix: "<b>&%" }), "node").map(({ mean }) => mean), [null]);
});

const job = (nodes: number, cores: number, gpus: number) =>
  ({ nodes: Array.from({ length: nodes }, (_, i) => ({ name: `n${i}`, cores, gpus: Array(gpus).fill({}) })) }) as unknown as Job;

test("where all devices are too many for one answer, one node is shown", () => {
  assert.equal(forcedNode(job(64, 192, 8), "gpu_util_percent"), null);
  assert.equal(forcedNode(job(64, 192, 8), "cpu_util_percent"), "n0");
  assert.equal(forcedNode(job(1, 192, 8), "cpu_util_percent"), null);
  assert.equal(heatMetrics(job(1, 8, 0))[0]?.metric, "cpu_util_percent", "a job without GPUs begins with its cores");
});

test("the colours of a heat map grow from dark to light, also beyond its ends", () => {
  assert.deepEqual([-1, 0, 1, 2].map((share) => hex(viridis(share))), ["#440154", "#440154", "#fde725", "#fde725"]);
  const luminance = Array.from({ length: 21 }, (_, i) => viridis(i / 20)).map(([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b);
  assert.deepEqual([...luminance].sort((a, b) => a - b), luminance);
});

const rank = (start_us: readonly number[], wall_seconds: readonly number[], steps_per_point = 1) => ({ series: { start_us, wall_seconds, steps_per_point } }) as unknown as RankSteps;

test("a step is drawn as wide as it lasted; a short pause belongs to it, a long one stays empty", () => {
  assert.deepEqual(endsOf(rank([0, 1e6, 5e6], [0.95, 1, 2])), [1000, 2000, 7000]);
  assert.deepEqual(endsOf(rank([0, 10e6], [1, 1], 5)), [10_000, 15_000], "a point of several steps reaches to the next");
  assert.deepEqual(endsOf(rank([0, 1e6], [3, 1])), [1000, 2000], "never over the next step");
  assert.deepEqual(endsOf(rank([], [])), []);
  const points = [0, 6e6, 12e6, 78e6, 84e6]; // 5 steps of 1 s each and 1 s between points; a restart after the third
  assert.deepEqual(endsOf(rank(points, [1, 1, 1, 1, 1], 5)), [6000, 12_000, 17_000, 84_000, 89_000]);
});

test("marks of equal values share a label, and labels that would touch go below each other", () => {
  const at = (value: number) => value / 10;
  assert.deepEqual(placed([["p50", 1], ["p95", 1], ["p99", 2], ["max", 9]], at), [
    { words: "p50, p95 1.00 s", x: 0.1, row: 0 }, { words: "p99 2.00 s", x: 0.2, row: 1 }, { words: "max 9.00 s", x: 0.9, row: 0 },
  ]);
  assert.deepEqual(placed([], at), []);
});

test("single steps take the place of the curve, and nothing else of the rank changes", () => {
  const found = { rank: 3, steps: 90, series: { steps_per_point: 64 }, gpu: null } as unknown as RankSteps;
  const page = { next: null, items: [
    { step: 7, start_us: 0, wall_seconds: 0.2, phases_seconds: { data: 0.1 }, gpu: { idle_seconds: 0.05 } },
    { step: 8, start_us: 2e5, wall_seconds: 0.3, phases_seconds: { forward: 0.2 }, gpu: null },
  ] } as unknown as StepRows;
  const { steps, series, gpu } = withSingleSteps(found, page);
  assert.deepEqual([steps, series.steps_per_point, series.step, series.wall_seconds], [90, 1, [7, 8], [0.2, 0.3]]);
  assert.deepEqual([series.data_seconds, series.phases_seconds], [[0.1, 0], { data: [0.1, 0], forward: [0, 0.2] }]);
  assert.deepEqual(gpu?.series.idle_seconds, [0.05, null]);
});

test("slow places are marked where a rule found that they are an issue, and only there", () => {
  const curve = rank([0, 1e6, 2e6, 3e6], [1, 1, 1, 2]);
  const judged = (name: string, status: string) => ({ profiler_rule_evaluation_statuses: [{ rule: name, rule_configuration_name: name, rule_evaluation_status: status, verdict: { kind: "finding", sentence: "Every 4th." } }] }) as unknown as Job;
  assert.deepEqual(stallsOf(judged("PeriodicStall", "IssuesFound"), curve), { timesMs: [4000], rule: "PeriodicStall", sentence: "Every 4th." });
  assert.equal(stallsOf(judged("PeriodicStall", "NoIssuesFound"), curve), null);
  assert.equal(stallsOf(judged("LowGPUUtilization", "IssuesFound"), curve), null);
  assert.equal(stallsOf(judged("StepOutlier", "IssuesFound"), undefined), null);
  assert.deepEqual(stallsOf(judged("StepOutlier", "IssuesFound"), rank([], []))?.timesMs, []);
});

test("of the slow places only those on screen are counted", () => {
  const stalls = { timesMs: [1000, 2000, 3000], rule: "PeriodicStall", sentence: "" };
  assert.deepEqual([[0, 9000], [1500, 2000], [3001, 9000]].map(([fromMs = 0, toMs = 0]) => stallsIn(stalls, { fromMs, toMs })), [3, 1, 0]);
  assert.equal(stallsIn(null, { fromMs: 0, toMs: 9 }), 0);
});

test("the ends of a short span have the decimals that tell them apart", () => {
  const words = (fromMs: number, toMs: number) => spanWords({ fromMs, toMs }, 0, "relative");
  assert.deepEqual([words(20_100, 40_200), words(1000, 3400), words(1000, 1250)], ["20 s to 40 s", "1.0 s to 3.4 s", "1.00 s to 1.25 s"]);
  assert.equal(spanWords({ fromMs: 1000, toMs: 1250 }, 0, "utc"), "00:00:01.00 to 00:00:01.25");
});

test("zooms by keys or the wheel within a second are one entry of the history", () => {
  assert.deepEqual([5000, 5400, 6300, 7400, 7300].map(goesOn), [false, true, true, false, false]);
  assert.deepEqual([0, 250, -250, 1e9, -1e9].map(wheelFactor), [1, 2, 0.5, 4, 0.25]);
});

test("a node says what the job may use of it, where that is less than it has", () => {
  const of = (facts: object) => ({ cores: 192, memory_bytes: 2 ** 40, facts }) as unknown as JobNode;
  assert.deepEqual([coresOf(of({})), memoryOf(of({}))], ["192", "1 TiB"]);
  assert.equal(coresOf(of({ cores_allowed: 192, cpu_quota: 0.5 })), "0.50 of 192");
  assert.equal(coresOf(of({ cores_allowed: 8, cpu_quota: 200 })), "8 of 192");
  assert.equal(memoryOf(of({ memory_allowed_bytes: 2 ** 33 })), "8 GiB of 1 TiB");
  assert.deepEqual([coresOf(of({ cores_allowed: "many", cpu_quota: -1 })), memoryOf(of({ memory_allowed_bytes: null }))], ["192", "1 TiB"]);
});
