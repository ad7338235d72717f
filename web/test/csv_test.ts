import assert from "node:assert/strict";
import { test } from "node:test";
import { readAllJobs } from "../src/jobs/all_jobs";

/** A service that has 500 jobs on each of five pages. */
const asked: string[] = [];
Object.assign(globalThis, {
  fetch: (url: string) => {
    asked.push(url);
    const at = Number(new URL(url, "http://host").searchParams.get("cursor") ?? 0);
    const headers: HeadersInit = at < 4 ? { "stepscope-next": String(at + 1) } : {};
    return Promise.resolve(new Response(`name\r\njob-${at}\r\n`, { headers }));
  },
});

test("a table of all jobs has one line of heads, and begins with the first job", async () => {
  const told: number[] = [];
  const table = await readAllJobs("?cursor=3&sort=name", (jobs) => told.push(jobs), new AbortController().signal);
  assert.deepEqual(table, { text: "name\r\njob-0\r\njob-1\r\njob-2\r\njob-3\r\njob-4\r\n", whole: true });
  assert.deepEqual(told, [500, 1000, 1500, 2000]);
  assert.equal(asked[0], "/api/v1/jobs?sort=name&limit=500&format=csv");
});

test("a table that has not all jobs says so", async () => {
  const { text, whole } = await readAllJobs("", () => {}, new AbortController().signal, 2);
  assert.deepEqual([text, whole], ["name\r\njob-0\r\njob-1\r\n", false]);
});
