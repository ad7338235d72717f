import assert from "node:assert/strict";
import { test } from "node:test";
import { parametersOf } from "../src/fleet/calls";
import { sortOf } from "../src/fleet/tables";
import { doubtOf, headlineOf, idleWords, piecesOf, placesOf } from "../src/fleet/words";
import { hours } from "../src/format";

type Parts = Parameters<typeof piecesOf>[0];

function of(held: number, busy: number, lost: readonly number[]): Parts {
  const all = lost.reduce((sum, each) => sum + each, 0);
  const total = { jobs: 2, gpu_hours: held, judged_gpu_hours: busy + all, busy_gpu_hours: busy, lost_gpu_hours: all, not_judged_gpu_hours: held - busy - all, judged_share: held > 0 ? (busy + all) / held : null };
  return { total, causes: lost.map((gpu_hours, i) => ({ cause: `c${i}`, words: `cause ${i}`, gpu_hours, share: gpu_hours / held, first_in_jobs: 0 })) } as unknown as Parts;
}

test("the pieces of the bar add up to what was held, and small causes are one piece", () => {
  const pieces = piecesOf(of(100, 40, [20, 10, 5, 4, 3, 2]));
  assert.deepEqual(pieces.map(({ words, hours: each }) => [words, each]), [["busy", 40], ["cause 0", 20], ["cause 1", 10], ["cause 2", 5], ["cause 3", 4], ["other causes", 5], ["not judged", 16]]);
  assert.equal(pieces.reduce((sum, piece) => sum + piece.hours, 0), 100);
});

test("what is not known is not called lost", () => {
  assert.equal(headlineOf(of(0, 0, [])), "No job of this time held a GPU.");
  assert.equal(headlineOf(of(10, 0, [])), "10.0 h of GPUs were held; none of it is judged.");
  assert.equal(headlineOf(of(10, 5, [])), "Of 10.0 h of GPUs 50 % were busy and 0 % lost.");
  assert.match(doubtOf(of(10, 5, []).total), /^50 % of the hours are not judged/);
  assert.equal(doubtOf(of(10, 10, []).total), "");
});

test("less than an hour is minutes", () => {
  assert.deepEqual([0, 0.25, 1, 250, null].map((value) => hours(value)), ["0 s", "15 m 00 s", "1.00 h", "250 h", "–"]);
});

test("points lie between the powers of ten, whatever the hours are", () => {
  const row = (held: number, judged: number, lost: number) => ({ key: "k", sums: { gpu_hours: held, judged_gpu_hours: judged, lost_gpu_hours: lost } }) as never;
  const { points, ticks } = placesOf([row(0.001, 0.001, 0.001), row(5e6, 5e6, 0), row(10, 0, 0), row(0, 0, 0)]);
  assert.equal(points.length, 2);
  assert.ok(points.every(({ x, y }) => x >= 0 && x <= 1 && y >= 0 && y <= 1));
  assert.deepEqual([ticks[0]?.hours, ticks.at(-1)?.hours], [0.001, 1e7]);
  assert.deepEqual(placesOf([row(10, 10, 1)]).ticks.map(({ hours: each }) => each), [10, 100]);
  assert.deepEqual(placesOf([]), { points: [], ticks: [] });
});

test("no GPU is called used while nobody looked", () => {
  const idle = { running_jobs: 0, judged_jobs: 0, not_asked_jobs: 0, gpus: 0, jobs_total: 0, jobs: [] };
  assert.equal(idleWords(idle), "No job with GPUs runs.");
  assert.equal(idleWords({ ...idle, running_jobs: 2 }), "Not known yet. 2 running jobs are not judged yet.");
  assert.equal(idleWords({ ...idle, running_jobs: 2, judged_jobs: 2 }), "Every GPU of the 2 judged running jobs was used.");
  assert.equal(idleWords({ ...idle, running_jobs: 501, judged_jobs: 500, not_asked_jobs: 1, gpus: 1, jobs_total: 1 }), "1 GPU of 1 running job was held and never used. 1 smaller job was not looked at.");
});

test("a link becomes the parameters of the call; a wrong one its defaults", () => {
  const now = Date.parse("2026-11-27T12:34:56Z");
  assert.deepEqual(parametersOf("?after=now-24h&user=ann", now), { user: "ann", account: "", group: "", gpu: "", node: "", cause: "", by: "user", from: "2026-11-26T12:34:00.000Z", to: null });
  assert.equal(parametersOf("?by=moon", now).by, "user");
  assert.equal(sortOf("constructor"), "lost");
});
