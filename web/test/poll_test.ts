import assert from "node:assert/strict";
import { test } from "node:test";
import { persist } from "../src/poll";

/** Lets promises settle. */
const settle = () => new Promise((done) => setImmediate(done));

test("what could not be loaded is asked for again, with pauses that grow to 30 s, until it is there", async () => {
  const pauses: number[] = [];
  let next = () => {};
  const setTimeout = (act: () => void, pauseMs: number) => (pauses.push(pauseMs), (next = act));
  Object.assign(globalThis, { window: { setTimeout } });
  let tries = 0;
  let faults = 0;
  const found: string[] = [];
  persist(async () => ((tries += 1) < 7 ? Promise.reject(new Error("away")) : "chunk"), (chunk) => void found.push(chunk), () => (faults += 1));
  for (let i = 0; i < 6; i += 1) {
    await settle();
    next();
  }
  await settle();
  assert.deepEqual(pauses, [2000, 4000, 8000, 16_000, 30_000, 30_000]);
  assert.deepEqual([tries, faults, found], [7, 6, ["chunk"]]);
});
