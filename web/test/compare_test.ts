import assert from "node:assert/strict";
import { test } from "node:test";
import type { Comparison, StepChange } from "../src/compare/calls";
import { alignOf, binned, howOften, pathOf, stepTimes, utilisation } from "../src/compare/lines";
import { certaintyOf, changeOf, headlineOf, runBefore } from "../src/compare/words";
import { toggled } from "../src/jobs/ticked";
import type { JobItem } from "../src/model";

const change = (more: Partial<StepChange>): StepChange => ({ verdict: "faster", material: true, percent: -54, low_percent: -56, high_percent: -52, noise_percent: 2, sentence: "", ...more });
const compared = (more: Partial<StepChange>) => ({ a: { name: "one" }, b: { name: "two" }, steps: { change: change(more) } }) as unknown as Comparison;

test("a comparison is one sentence", () => {
  assert.equal(headlineOf(compared({})), "The steps of two take 54 % less time than those of one, 2.2 times as fast.");
  assert.equal(headlineOf(compared({ verdict: "slower", percent: 12 })), "The steps of two take 12 % more time than those of one.");
  assert.match(headlineOf(compared({ verdict: "no clear difference", percent: 1 })), /^No clear difference/);
  assert.match(headlineOf(compared({ verdict: "not enough data", percent: null })), /^Not enough data/);
  assert.doesNotMatch(headlineOf(compared({ percent: -100 })), /Infinity|NaN/);
});

test("how sure it is has both ends of the interval, the nearer first", () => {
  assert.equal(certaintyOf(change({})), "With 95 % confidence between 52 % and 56 % less time a step; parts of one run differ by 2.0 %. That matters.");
  assert.match(certaintyOf(change({ verdict: "slower", material: false, percent: 4, low_percent: 3, high_percent: 5 })), /between 3\.0 % and 5\.0 % more .* worth a look, not more/);
  assert.match(certaintyOf(change({ verdict: "no clear difference", percent: 1, low_percent: -2, high_percent: 4 })), /between 2\.0 % less and 4\.0 % more/);
  assert.equal(certaintyOf(change({ verdict: "not enough data" })), "");
});

test("a change of a number is said; where one side has none, that", () => {
  assert.deepEqual([changeOf(2, 3), changeOf(3, 2), changeOf(2, 2.001), changeOf(0, 1), changeOf(0, 0), changeOf(null, 1), changeOf(1, null), changeOf(null, null), changeOf(2, 28)],
    ["▲ 50 % more", "▼ 33 % less", "the same", "", "the same", "only in B", "only in A", "", "▲ 14.0 times as much"]);
});

test("the run before is the newest one that is older", () => {
  const item = (name: string, created_us: number) => ({ name, created_us }) as unknown as JobItem;
  assert.equal(runBefore([item("c", 3), item("a", 1), item("b", 2)], "c"), "b");
  assert.equal(runBefore([item("a", 1)], "a"), null);
  assert.equal(runBefore([item("a", 1)], "not-in-the-list"), "a");
  assert.equal(runBefore([], "a"), null);
});

test("two jobs at most are ticked", () => {
  assert.deepEqual(toggled([], "a"), ["a"]);
  assert.deepEqual(toggled(["a", "b"], "c"), ["b", "c"]);
  assert.deepEqual(toggled(["a", "b"], "a"), ["b"]);
});

test("histograms share their bins: each keeps its steps, and the tail is left to the sentence", () => {
  const sum = (stairs: ReturnType<typeof binned>) => stairs.reduce((all, { value }) => all + (value ?? 0), 0);
  assert.ok(Math.abs(sum(binned({ edges_seconds: [1, 2, 3], counts: [3, 1] }, 1, 3)) - 1) < 1e-9);
  assert.ok(Math.abs(sum(binned({ edges_seconds: [1, 2, 12], counts: [3, 1] }, 1, 2)) - 0.75) < 1e-9);
  assert.equal(sum(binned({ edges_seconds: [2, 2], counts: [7] }, 1, 3)), 1, "all steps took the same time");
  assert.equal(sum(binned({ edges_seconds: [], counts: [] }, 1, 3)), 0);
});

test("runs are aligned by the step, by the time of the job, or by that of the first step", () => {
  const steps = (starts: readonly number[] | null) => ({ steps: 30, line: { steps: [100, 120], mean_seconds: [2, 3], start_seconds: starts } });
  const found = { steps: { a: steps([50, 90]), b: steps(null) } } as unknown as Comparison;
  const spans = (align: "step" | "time" | "start") => stepTimes(found, align)?.a.map(({ from, to }) => [from, to]);
  assert.deepEqual(spans("step"), [[100, 120], [120, 130]]);
  assert.deepEqual(spans("time"), [[50, 90], [90, 120]]);
  assert.deepEqual(spans("start"), [[0, 40], [40, 70]]);
  assert.deepEqual(stepTimes(found, "time")?.b, [], "nobody knows when they began");
  assert.deepEqual([alignOf("?align=time"), alignOf("?align=toString"), alignOf("")], ["time", "step", "step"]);
});

test("use is over each run's own time, or over that of both jobs", () => {
  const job = (duration_seconds: number | null) => ({ duration_seconds, gpu_util_percent: [50, null] });
  const found = { a: job(100), b: job(null) } as unknown as Comparison;
  assert.deepEqual(utilisation(found, "gpu", "step")?.b.map(({ to }) => to), [0.5, 1]);
  const over = utilisation(found, "gpu", "time");
  assert.deepEqual([over?.a.map(({ to }) => to), over?.b, over?.high], [[50, 100], [], "1 m 40 s"]);
});

test("a line has a break where nothing was measured, and a run without steps has none", () => {
  const stairs = [{ from: 0, to: 1, value: 50 }, { from: 1, to: 2, value: null }, { from: 2, to: 3, value: 100 }];
  assert.equal(pathOf(stairs, { from: 0, to: 4, top: 100 }), "M0.0 50.00H250.0M500.0 0.00H750.0");
  const none = { steps: { a: null, b: null } } as Parameters<typeof stepTimes>[0];
  assert.equal(stepTimes(none, "step"), null);
  assert.equal(howOften(none), null);
});
