import assert from "node:assert/strict";
import { test } from "node:test";
import { checkpoints, epochs, findingMarks, restarts, windowMarks } from "../src/job/strip/marks";
import type { Finding, Metrics, RankSteps } from "../src/model";

const finding = (rule: string, fromS: number, toS: number) =>
  ({ rule_configuration_name: rule, from_us: fromS * 1e6, to_us: toS * 1e6, sentence: `${rule} fired` }) as unknown as Finding;
type Event = Parameters<typeof restarts>[0][number];
const event = (kind: string, node: string, atS: number) => ({ kind, node, at_us: atS * 1e6, count: 1, detail: {} }) as unknown as Event;
type Window = Parameters<typeof windowMarks>[0][number];

test("findings that would touch are one mark, which names the first of them", () => {
  const marks = findingMarks([finding("B", 12, 20), finding("A", 10, 11), finding("C", 60, 90)], 5000, 0, "relative");
  assert.deepEqual(marks.map(({ fromMs, toMs }) => [fromMs, toMs]), [[10_000, 20_000], [60_000, 90_000]]);
  assert.equal(marks[0]?.words, "A, 10 s to 11 s: A fired\nB, 12 s to 20 s: B fired");
  const many = findingMarks(Array.from({ length: 9 }, (_, i) => finding("A", i / 10, 1)), 5000, 0, "relative");
  assert.match(many[0]?.words ?? "", /and 5 more findings$/);
});

test("a window is where its traces are, and without traces where it was told of", () => {
  const window = (more: object) => ({ id: "3", start_step: 100, num_steps: 10, traces: [], answers: [], ...more }) as unknown as Window;
  const trace = (from: number, to: number, clock = true) => ({ from_us: from * 1e6, to_us: to * 1e6, on_our_clock: clock });
  const answer = (at: number, recorded = true) => ({ at_us: at * 1e6, recorded });
  assert.deepEqual(windowMarks([window({ traces: [trace(5, 6), trace(4, 5), trace(90, 95, false)] })]), [{ fromMs: 4000, toMs: 6000, words: "Window 3, steps 100 to 109" }]);
  assert.deepEqual(windowMarks([window({ answers: [answer(7), answer(9), answer(50, false)] })]).map(({ fromMs, toMs }) => [fromMs, toMs]), [[7000, 9000]]);
  assert.deepEqual(windowMarks([window({})]), []);
});

test("a restart is an agent started once more, or a rank after one that ended; what starts together is one", () => {
  const first = [event("agent_started", "a", 0), event("rank_connected", "a", 1), event("rank_connected", "a", 2)];
  assert.deepEqual(restarts(first), [], "several ranks of a node");
  const ended = [event("rank_ended", "a", 100), event("rank_connected", "a", 110), event("agent_started", "a", 115), event("frames_lost", "a", 120)];
  assert.deepEqual(restarts([...first, ...ended].reverse()), [110_000], "in any order");
  assert.deepEqual(restarts([...first, event("agent_started", "b", 500), event("agent_started", "a", 900)]), [900_000]);
});

test("epochs are where their number grew", () => {
  const told = (max: (number | null)[]) => ({ series: [{ metric: "user.epoch", times_us: max.map((_, i) => i * 1e6), max }] }) as unknown as Metrics;
  assert.deepEqual(epochs(told([0, 0.4, 1, null, 1, 3, 2, 3])), [2000, 5000]);
  assert.deepEqual(epochs({ series: [] } as unknown as Metrics), []);
  assert.deepEqual(epochs(told(Array.from({ length: 300 }, (_, i) => i))), [], "too many to be marks");
});

test("checkpoints are marked where few points have one", () => {
  const curve = (seconds: number[]) => ({ series: { start_us: seconds.map((_, i) => i * 1e6), phases_seconds: { checkpoint: seconds } } }) as unknown as RankSteps;
  assert.deepEqual(checkpoints(curve([0, 0, 0.4, 0])), [2000]);
  assert.deepEqual(checkpoints(curve([1, 1, 1, 0])), []);
  assert.deepEqual(checkpoints(undefined), []);
});
