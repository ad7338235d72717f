import assert from "node:assert/strict";
import { test } from "node:test";
import { clockAheadMs, listJobs, serviceMs } from "../src/api";
import { openList } from "../src/jobs/list";

Object.assign(globalThis, { window: globalThis, document: { hidden: false, addEventListener: () => {}, removeEventListener: () => {} } });

const kHourMs = 3_600_000;
const asked: string[] = [];

/** A service whose clock is an hour ahead of this program's. */
function answer(url: string): Promise<Response> {
  asked.push(url);
  const date = new Date(Date.now() + kHourMs).toUTCString();
  return Promise.resolve(new Response(JSON.stringify({ items: [], next: null, total: 0 }), { headers: { date } }));
}
Object.assign(globalThis, { fetch: answer });

const isAbout = (found: number, wanted: number) => assert.ok(Math.abs(found - wanted) < 3000, `${found} is not about ${wanted}`);

test("the last hour is the service's, also where this browser's clock is wrong", async () => {
  clockAheadMs.value = 0;
  const list = openList("?after=now-1h", null);
  while (list.page.value === null) await new Promise((done) => setTimeout(done, 5));
  list.poll.stop();
  assert.equal(asked.length, 2, "once more, as the first answer told the time");
  isAbout(Date.parse(new URL(asked[1] ?? "", "http://host").searchParams.get("created_after") ?? ""), Date.now());
});

test("the present is the service's", async () => {
  clockAheadMs.value = 0;
  await listJobs({}, new AbortController().signal);
  isAbout(serviceMs(), Date.now() + kHourMs);
});
