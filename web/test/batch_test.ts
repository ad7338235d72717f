import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { type Answer, readTogether, type Send } from "../src/batch";

Object.assign(globalThis, { window: globalThis }); // the timers of a page

interface Sent {
  readonly url: string;
  readonly get: readonly string[] | null; // the paths of a batch
  readonly stop: AbortSignal | undefined;
}
let sent: Sent[] = [];
let answerTo: (asked: Sent) => Answer | Promise<Answer>;

const ok = (body: unknown): Answer => ({ status: 200, body, requestId: "id", waitMs: 0 });
const send: Send = async (url, { body, stop }) => {
  const asked = { url, get: (body as { get: string[] } | undefined)?.get ?? null, stop };
  sent.push(asked);
  return answerTo(asked);
};
const read = (path: string, stop?: AbortSignal, patient = false) => readTogether(`/api/v1${path}`, send, stop, patient);

beforeEach(() => {
  sent = [];
  answerTo = ({ url, get }) => ok(get === null ? { of: url } : { answers: get.map((path) => ({ status: 200, body: { of: path } })) });
});

test("calls of one moment travel together, and each gets its own answer", async () => {
  const [job, steps] = await Promise.all([read("/jobs/a"), read("/jobs/a/steps?most=1")]);
  assert.deepEqual(sent.map(({ url, get }) => [url, get]), [["/api/v1/batch", ["/jobs/a", "/jobs/a/steps?most=1"]]]);
  assert.deepEqual([job.body, steps.body], [{ of: "/jobs/a" }, { of: "/jobs/a/steps?most=1" }]);
});

test("one call goes as it is, and nine take two batches at most", async () => {
  await read("/jobs");
  assert.deepEqual(sent.map(({ url }) => url), ["/api/v1/jobs"]);
  await Promise.all(Array.from({ length: 9 }, (_, at) => read(`/jobs/${at}`)));
  assert.deepEqual(sent.map(({ url, get }) => [url, get?.length ?? null]), [["/api/v1/jobs", null], ["/api/v1/batch", 8], ["/api/v1/jobs/8", null]]);
});

test("a patient call waits for company, and goes alone when none comes", async () => {
  const first = read("/session", undefined, true);
  await new Promise((done) => setTimeout(done, 20));
  assert.equal(sent.length, 0);
  await Promise.all([first, read("/jobs")]);
  assert.deepEqual(sent.map(({ get }) => get), [["/session", "/jobs"]]);
  await read("/session", undefined, true);
  assert.equal(sent[1]?.url, "/api/v1/session");
});

test("each has the status and the pause of its own answer; what found no room is asked for again", async () => {
  answerTo = ({ url, get }) =>
    get === null ? ok({ of: url }) : ok({ answers: [{ status: 404, body: { title: "no" } }, { status: 503, retry_after: 5, body: {} }, { status: 413, body: {} }] });
  const [gone, busy, large] = await Promise.all([read("/a"), read("/b"), read("/c")]);
  assert.deepEqual(gone, { status: 404, body: { title: "no" }, requestId: "id", waitMs: 0 });
  assert.equal(busy.waitMs, 5000);
  assert.deepEqual(large.body, { of: "/api/v1/c" });
});

test("a batch that is refused or makes no sense is the answer to each", async () => {
  answerTo = () => ({ status: 401, body: { title: "A token is wanted" }, requestId: null, waitMs: 0 });
  assert.deepEqual((await Promise.all([read("/a"), read("/b")])).map(({ status }) => status), [401, 401]);
  answerTo = () => ok("nonsense");
  assert.deepEqual((await Promise.all([read("/a"), read("/b")])).map(({ body }) => body), ["nonsense", "nonsense"], "each caller says what is wrong with it");
});

test("a fault on the way is one of all; who stops waits no longer", async () => {
  answerTo = () => Promise.reject(new Error("unreachable"));
  const found = await Promise.allSettled([read("/a"), read("/b")]);
  assert.deepEqual(found.map(({ status }) => status), ["rejected", "rejected"]);

  let finish: (answer: Answer) => void = () => {};
  answerTo = () => new Promise((resolve) => (finish = resolve));
  const [one, other] = [new AbortController(), new AbortController()];
  const left = assert.rejects(read("/a", one.signal));
  const stayed = read("/b", other.signal);
  await new Promise((done) => setTimeout(done, 5));
  one.abort();
  await left;
  finish(ok({ answers: [{ status: 200, body: {} }, { status: 200, body: { of: "b" } }] }));
  assert.deepEqual((await stayed).body, { of: "b" });

  const before = sent.length;
  const never = [read("/a", one.signal), read("/b", other.signal)].map((call) => assert.rejects(call));
  other.abort();
  await Promise.all(never);
  await new Promise((done) => setTimeout(done, 5));
  assert.equal(sent.length, before, "nobody waits for these");
});
