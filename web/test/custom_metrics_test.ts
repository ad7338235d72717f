import assert from "node:assert/strict";
import { test } from "node:test";
import { axisNumber, number } from "../src/format";
import { chooseCharted, kMostCharted, type SeriesCounts, withAnswer } from "../src/job/system/custom_metric_names";
import { metricsOf } from "../src/job/panels";
import { systemRows } from "../src/job/system/rows";
import { customMetricPanel } from "../src/job/system/custom_panel";
import { freeRange, isolatedRows } from "../src/job/plot";
import { summaryOf } from "../src/job/summary";
import type { Job, JudgedRule, Metrics, Series } from "../src/model";

const series = (metric: string, device: string, mean: (number | null)[], more: Partial<Series> = {}): Series => ({
  metric, node: "n1", device, unit: "", times_us: mean.map((_, i) => i * 1e6), min: mean, mean, max: mean, ...more,
});
const answer = (...list: Series[]) => ({ series: list }) as unknown as Metrics;
const known = (...names: string[]): SeriesCounts => new Map(names.map((name) => [name, 1]));

test("an answer adds what begins with user., and a metric keeps the most series it had", () => {
  const first = withAnswer(new Map(), answer(series("load_1m", "", [1]), series("user.loss", "", [1], { of: 8 })));
  assert.deepEqual([...withAnswer(first, answer(series("user.loss", "", [1], { of: 2 }), series("user.lr", "", [1])))], [["user.loss", 8], ["user.lr", 1]]);
});

test("the first by name are drawn, the rest is named", () => {
  assert.deepEqual(chooseCharted(known("user.b", "user.a"), false), { charted: ["user.a", "user.b"], uncharted: [] });
  const many = chooseCharted(known(...Array.from({ length: 30 }, (_, i) => `user.m${10 + i}`)), false);
  assert.equal(many.charted.length, kMostCharted);
  assert.deepEqual([many.uncharted.length, many.uncharted[0]], [7, "user.m33"]);
});

test("one with very many series does not take the room of the others, unless it is folded", () => {
  const wide: SeriesCounts = new Map([["user.a", 1000], ["user.b", 300], ["user.c", 200], ["user.d", 100]]);
  assert.deepEqual(chooseCharted(wide, false), { charted: ["user.b", "user.d"], uncharted: ["user.a", "user.c"] });
  assert.deepEqual(chooseCharted(wide, true).uncharted, []);
});

test("all that a page asks for fits into one call", () => {
  const job = { nodes: [{ name: "n1", cores: 2, gpus: [{}] }] } as unknown as Job;
  assert.ok(metricsOf(job, systemRows(job)).length + kMostCharted <= 96, `${metricsOf(job, systemRows(job)).length}`);
});

test("a chart has a line for each of a few devices, the mean of many, and says when there is nothing", () => {
  const few = customMetricPanel("user.grad.norm", answer(series("user.grad.norm", "rank0", [1]), series("user.grad.norm", "rank1", [2])), []);
  assert.deepEqual([few.title, few.unit, few.traces.map(({ label }) => label)], ["grad.norm", "", ["n1 rank0", "n1 rank1"]]);
  const many = customMetricPanel("user.x", answer(...Array.from({ length: 8 }, (_, i) => series("user.x", `rank${i}`, [i]))), []);
  assert.deepEqual(many.traces.map(({ label, mean, low, high }) => [label, mean, low, high]), [["Mean of 8 series", [3.5], [0], [7]]]);
  assert.equal(customMetricPanel("user.x", answer(series("user.x", "", [1], { node: "", of: 1 })), []).traces[0]?.label, "Value");
  assert.equal(summaryOf(customMetricPanel("user.x", answer(), []), { fromMs: 0, toMs: 1 }, "relative", 0), "No samples in this span of time.");
});

test("y reaches over the values, with room even around a single one", () => {
  assert.deepEqual(freeRange(2, 3), [1.94, 3.06]);
  assert.deepEqual(freeRange(-10, -10), [-11, -9]);
  assert.deepEqual(freeRange(0, 0), [-1, 1]);
  for (const [low, high] of [freeRange(null, null), freeRange(3e-7, 3e-7)]) assert.ok(low < high);
});

test("a value between two gaps is found, also beside places of other lines", () => {
  assert.deepEqual(isolatedRows([1, null, 2, undefined, null, 3, 4, null, undefined, 5]), [0, 2, 9]);
  assert.deepEqual(isolatedRows([undefined, 7, undefined]), [1]);
  assert.deepEqual(isolatedRows([]), []);
});

test("numbers of an axis differ where its steps do", () => {
  const cases: readonly (readonly [number, number, string])[] = [
    [2.302, 0.002, "2.302"], [2.5, 2.5, "2.5"], [0.75, 0.25, "0.75"], [0.3, 0.1, "0.3"], [1500, 50, "1\u202f500"], [1e-17, 0.1, "0"],
    [0.0003, 0.0001, "0.0003"], [2e-5, 1e-5, "2e-5"], [2.5e-5, 5e-6, "2.5e-5"], [1.5e9, 5e8, "1.5e+9"], [-7.5, 0.5, "-7.5"],
  ];
  for (const [value, step, text] of cases) assert.equal(axisNumber(value, step), text);
});

test("a small number keeps its digits, a very small or large one is a power of ten", () => {
  const cases: readonly (readonly [number, string])[] = [[0, "0.00"], [0.3, "0.30"], [0.00015, "0.000150"], [-0.0123, "-0.0123"], [3e-5, "3.00e-5"], [1.34e9, "1.34e+9"], [999, "999"]];
  for (const [value, text] of cases) assert.equal(number(value), text);
});

test("a rule of the job's own draws its threshold into the chart of its metric", () => {
  const custom = (name: string, parameters: object) => ({ rule: "Custom", rule_configuration_name: name, parameters }) as unknown as JudgedRule;
  const rules = [
    custom("LossRises", { metric: "user.loss", threshold: 4, comparison: "above" }),
    custom("NoCharge", { metric: "user.charge", threshold: 0.5, comparison: "below" }),
  ];
  const of = (metric: string) => customMetricPanel(metric, answer(series(metric, "", [1])), rules).threshold;
  assert.deepEqual(of("user.loss"), { rule: "LossRises", value: 4, beyond: "above" });
  assert.deepEqual(of("user.charge"), { rule: "NoCharge", value: 0.5, beyond: "below" });
  assert.equal(of("user.other"), null);
});
