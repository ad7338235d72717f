import assert from "node:assert/strict";
import { test } from "node:test";
import { clockOf } from "../src/job/overview/clock";
import type { JobNode } from "../src/model";

const kNoon = Date.UTC(2026, 10, 20, 12) * 1000;
const off: Readonly<NonNullable<JobNode["clock_suspect"]>> = { since: "", since_us: kNoon, until: null, until_us: null, offset_us: 3600e6 };
const words = (clock_offset_us: number, clock_suspect?: JobNode["clock_suspect"]) =>
  clockOf({ clock_offset_us, clock_suspect } as JobNode, "utc");

test("a clock that is right is a number alone, also of a service that knows no more", () => {
  assert.equal(words(120, null), "120 µs");
  assert.equal(words(-59e6), "−59.0 s");
});

test("a clock that is off says since when, how far, and what it means", () => {
  assert.equal(words(3600e6, off), "1 h 00 m behind: it is off since 2026-11-20 12:00:00 UTC, its times are as its agent said");
  assert.match(words(-3600e6, { ...off, offset_us: -86_400e6 }), /^1 d 00 h ahead: /);
});

test("a clock that was set right says when it was off", () => {
  assert.equal(
    words(120, { ...off, until_us: kNoon + 60e6 }),
    "120 µs; was 1 h 00 m behind from 2026-11-20 12:00:00 UTC to 2026-11-20 12:01:00 UTC, its times of then are as its agent said",
  );
});
