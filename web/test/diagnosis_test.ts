import assert from "node:assert/strict";
import { test } from "node:test";
import { gainOf, groundOf, headlineOf, seenBy } from "../src/job/overview/words";
import { evidenceOf, namedCauses, outsideOf, stagesOf } from "../src/job/overview/stages";
import { shownParts } from "../src/job/overview/parts";
import { rankRemarks } from "../src/job/overview/rank_remarks";
import { phaseWord } from "../src/job/steps/phase_panel";
import { rankShown, stepPanel } from "../src/job/steps/step_panels";
import type { Cause, Diagnosis, Job, RankSteps, Steps } from "../src/model";

const parts = { initialisation: 12, training: 96, evaluation: 8, finalisation: 4 };
const words = (...those: Parameters<typeof shownParts>) => shownParts(...those).map(({ word, seconds }) => `${word} ${seconds}`);

test("the phases of a job are shown once a step was seen; what has no length is left out", () => {
  assert.deepEqual(words(parts, false), ["Initialisation 12", "Training 96", "Evaluation 8", "Finalisation 4"]);
  assert.deepEqual(words({ ...parts, evaluation: 0 }, false), ["Initialisation 12", "Training 96", "Finalisation 4"]);
  assert.deepEqual(words({ initialisation: 0, training: 0, evaluation: 0, finalisation: 0 }, false), []);
  assert.deepEqual([words(null, false), words(undefined, true)], [[], []], "a service of before does not tell");
});

test("time behind the newest step of a job that runs is no finalisation", () => {
  assert.deepEqual(words(parts, true), ["Initialisation 12", "Training 96", "Evaluation 8"]);
});

const found = (more: Partial<Diagnosis>) => ({ clock: "host", unit: "gpu_seconds", named_share: 0.98, ...more }) as Diagnosis;

test("a diagnosis says by whose clock, and how much of the steps has a name", () => {
  assert.equal(groundOf(found({ clock: "gpu" })), "Idle time of the GPUs is measured by the GPU’s own clock. Phases with a name cover 98 % of the step time.");
  assert.equal(groundOf(found({ unit: "rank_seconds", named_share: null })), "Measured by the host’s clock.");
  assert.equal(groundOf({} as Diagnosis), "");
});

test("a diagnosis of few steps says how many there were, not that there were none", () => {
  assert.equal(seenBy(found({ confidence: "host only", steps: 0 })), "Seen from the hosts only: no steps were reported.");
  assert.equal(seenBy(found({ confidence: "windows only", steps: 0 })), "Seen in windows of traces alone: the time is that of their steps.");
  assert.equal(seenBy(found({ confidence: "few steps", steps: 14 })), "Seen by the phases of 14 steps after the first: too few to be sure, 20 are needed.");
  assert.equal(seenBy(found({ confidence: "steps seen", steps: 400 })), "Seen by the phases of the steps.");
  assert.match(seenBy(found({ confidence: "steps seen in part", steps: 400 })), /, but for what is named as not seen\.$/);
});

const ranks = (...facts: Readonly<Record<string, unknown>>[]) => ({ ranks: facts.map((each, rank) => ({ rank, node: "n", facts: each })) }) as unknown as Job;

test("what ranks say of themselves is told in words, once for all that say the same", () => {
  assert.deepEqual(rankRemarks(ranks({ gpu_clock: "on" }, { gpu_clock: "on", loader_thread: "another" }, { loader_thread: "training" })), [
    "Ranks 0, 1: the GPU’s own clock: on.",
    "Rank 1: another thread reads the batches, so waits for data are not seen.",
  ]);
  assert.deepEqual(rankRemarks(ranks({ second_process: "2 processes say that they are rank 0: pid 4, 5" })), ["Rank 0: 2 processes say that they are rank 0: pid 4, 5."]);
  assert.match(rankRemarks(ranks(...Array.from({ length: 12 }, () => ({ gpu_clock: "off" }))))[0] ?? "", /^Ranks 0, 1, 2, 3, 4, 5, 6, 7 and 4 more: /);
  assert.deepEqual(rankRemarks(ranks({}, { gpu_clock: 7 })), []);
  assert.deepEqual(rankRemarks(ranks({ device_type: "cpu", gpu_clock: "off: no device is in use" })), ["Rank 0: computes on the CPU."]);
});

const steps = (gpu: RankSteps["gpu"]) => ({
  ranks: [{ rank: 0, node: null, gpu, series: { steps_per_point: 1, step: [0, 1], start_us: [0, 1e6], wall_seconds: [1, 1], data_seconds: [0, 0], phases_seconds: {} } }],
  left_out: 0,
}) as unknown as Steps;

test("how long the GPU idled before a step is a line where its clock is known", () => {
  const known = stepPanel(rankShown(steps({ series: { idle_seconds: [0.25, null] } }), 0)).traces;
  assert.deepEqual(known.map(({ label }) => label), ["Whole step", "GPU idle before the step"]);
  assert.deepEqual(known[1]?.mean, [0.25, null]);
  assert.deepEqual(stepPanel(rankShown(steps(null), 0)).traces.map(({ label }) => label), ["Whole step"]);
});

test("phases of the GPU have plain names", () => {
  assert.deepEqual(["sync", "device_to_host", "forward"].map(phaseWord), ["Waits for the GPU", "Copies from the GPU", "Forward"]);
});

const cause = (name: string, share: number, stage: number | null, suspect: string | null = null): Cause =>
  ({ cause: name, words: name, share, speed_up: share < 1 ? 1 / (1 - share) : null, stage, suspect, advice: "Do less." }) as Cause;
const budget = (...rows: readonly Cause[]) => found({ threshold: 10, budget: rows });

test("the verdict names the largest cause above the threshold, or what was computing", () => {
  const busy = cause("busy", 0.3, null);
  assert.equal(headlineOf(budget(busy, cause("preprocessing", 0.7, 2)), false), "70 % of the training’s time was lost to preprocessing.");
  assert.equal(headlineOf(budget(busy, cause("unknown", 0.7, null)), true), "So far, nothing measured explains 70 % of the training’s time.");
  assert.equal(headlineOf(budget(cause("busy", 0.95, null), cause("storage", 0.05, 8)), false), "No bottleneck is seen: 95 % of the training’s time was computing.");
  assert.equal(headlineOf(budget(), true), "So far, no bottleneck is seen: – of the training’s time was computing.");
  assert.equal(gainOf(cause("storage", 0.11, 8)), "Without this time the training would be up to 1.12 times as fast.");
  assert.equal(gainOf(cause("storage", 1, 8)), "", "no other time is left");
});

test("each stage has the time of its causes; only the cause above all is the suspect", () => {
  const diagnosis = budget(cause("busy", 0.2, null), cause("late_rank", 0.4, 5, "communication"), cause("communication", 0.1, 5, "communication"), cause("under_use", 0.2, 4, "model"), cause("evaluation", 0.1, null));
  const stages = stagesOf(diagnosis);
  assert.deepEqual(stages.map(({ lost }) => Math.round(100 * lost)), [0, 0, 0, 20, 50, 0, 0, 0]);
  assert.deepEqual(stages.map(({ busy }) => busy), [0, 0, 0, 0.2, 0, 0, 0, 0]);
  assert.deepEqual(stages.map(({ suspect }) => suspect), [null, null, null, null, "communication", null, null, null]);
  assert.deepEqual(outsideOf(diagnosis).map(({ words }) => words), ["evaluation"]);
  const total = stages.reduce((sum, { lost, busy }) => sum + lost + busy, 0) + outsideOf(diagnosis).reduce((sum, { share }) => sum + share, 0);
  assert.ok(Math.abs(total - 1) < 1e-9, "the picture leaves nothing out");
  assert.deepEqual(namedCauses(budget(cause("busy", 0.9, null), cause("storage", 0.1, 8))), [], "at the threshold is not above it");
});

test("the evidence of GPUs without work is the heat map of all, that of other causes a chart", () => {
  const evidence = (name: string, stage: number | null) => Object.values(evidenceOf(cause(name, 0.5, stage)));
  assert.deepEqual(evidence("on_cpu", 4), ["heatmap", "gpu_util_percent"]);
  assert.deepEqual(evidence("under_use", 4), ["heatmap", "gpu_util_percent"]);
  assert.deepEqual(evidence("framework_overhead", 4), ["steps", "phases"]);
  assert.deepEqual(evidence("throttled", null), ["system", "groupcpu"]);
  const stages = stagesOf(budget(cause("under_use", 0.5, 4), cause("framework_overhead", 0.1, 4)));
  assert.deepEqual(stages.slice(3, 5).map((stage) => stage.evidence.tab), ["heatmap", "steps"], "a stage leads to that of its largest cause");
});
