import assert from "node:assert/strict";
import { test } from "node:test";
import { readFileSync } from "node:fs";
import { type Attempt, type Delivery, kEvents } from "../src/alerts/calls";
import { attemptWords, deliveryWords, eventWords, minutesOf, namesOf, refusalOf, styleOf, wantedEvents } from "../src/alerts/words";

const attempt = (more: Partial<Attempt> = {}): Attempt => ({ at: null, at_us: 0, status: 204, duration_ms: 12.4, answer: "", error: null, ...more });
const message = (more: Partial<Delivery>) => ({ state: "ready", due_us: 60e6, attempts: [], ...more }) as unknown as Delivery;

test("what became of a message is said in words", () => {
  assert.equal(attemptWords(attempt()), "HTTP 204 in 12.4 ms");
  assert.equal(attemptWords(attempt({ status: null, error: "connect: refused" })), "connect: refused");
  assert.equal(attemptWords(attempt({ status: null })), "no answer yet");
  assert.equal(deliveryWords(message({}), 20_000), "next in 40.0 s");
  assert.equal(deliveryWords(message({ attempts: [attempt({ status: 500 }), attempt({ status: 503 })] }), 80_000), "HTTP 503 in 12.4 ms, attempt 2; next now");
  assert.equal(styleOf({ state: "lost" as unknown as Delivery["state"] }).word, "Waits", "a state of a later service");
});

test("a finding that must last is said to wait, or to have been over", () => {
  const held = { event: "rule.issues_found", created_us: 0, due_us: 600e6 } as Partial<Delivery>;
  assert.equal(deliveryWords(message(held), 480_000), "sent in 2 m 00 s if it lasts so long");
  assert.equal(deliveryWords(message({ ...held, state: "withdrawn" }), 480_000), "it, or its job, was over before it had lasted 10 m 00 s");
  assert.equal(styleOf({ state: "withdrawn" }).word, "Not sent");
  assert.deepEqual(["", " 10 ", "0", "1440", "1441", "-1", "1.5", "ten", "1e3", "99999"].map(minutesOf), [0, 10, 0, 1440, null, null, null, null, null, null]);
});

test("an address is refused where it cannot be a webhook's", () => {
  assert.equal(refusalOf("https://alerts.example.com/x"), "");
  for (const bad of ["", "x", "ftp://a/b", "javascript" + ":alert(1)", "https://name:secret@host/"]) assert.notEqual(refusalOf(bad), "", bad);
});

test("the page offers all events that the contract knows, but the test message", () => {
  const [, names = ""] = /Event:[\s\S]*?enum: \[([^\]]*)\]/.exec(readFileSync("../openapi.yaml", "utf8")) ?? [];
  assert.deepEqual([...kEvents.map(([name]) => name), "webhook.test"].sort(), names.split(", ").sort());
});

test("rules that are named are wanted of each event of rules, others as they are", () => {
  assert.deepEqual(namesOf(" IdleGPU,Straggler;; IdleGPU\n"), ["IdleGPU", "Straggler"]);
  assert.deepEqual(wantedEvents(["rule.error", "job.failed"], ["A", "B"]), ["rule.error:A", "rule.error:B", "job.failed"]);
  assert.deepEqual(wantedEvents(["rule.error"], []), ["rule.error"]);
  assert.equal(eventWords([]), "all events");
  assert.equal(eventWords(["rule.error:A", "job.failed", "rule.error:B"]), "rule.error of A, B · job.failed");
});
