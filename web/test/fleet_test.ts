import assert from "node:assert/strict";
import { test } from "node:test";
import { parametersOf } from "../src/fleet/calls";
import { sortOf } from "../src/fleet/tables";
import { doubtOf, headlineOf, piecesOf } from "../src/fleet/words";
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

test("a link becomes the parameters of the call; a wrong one its defaults", () => {
  const now = Date.parse("2026-11-27T12:34:56Z");
  assert.deepEqual(parametersOf("?after=now-24h&user=ann", now), { user: "ann", account: "", group: "", gpu: "", by: "user", from: "2026-11-26T12:34:00.000Z", to: null });
  assert.equal(parametersOf("?by=moon", now).by, "user");
  assert.equal(sortOf("constructor"), "lost");
});
