import assert from "node:assert/strict";
import { test } from "node:test";
import { timeSplits } from "../src/job/plot";
import * as format from "../src/format";

test("durations choose the unit that people would say", () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, "0 s"], [0.000812, "812 µs"], [0.0134, "13.4 ms"], [0.0082, "8.20 ms"], [0.0996, "99.6 ms"], [0.11, "110 ms"],
    [0.68, "680 ms"], [0.9994, "999 ms"], [0.9996, "1.00 s"], [1.2, "1.20 s"],
    [9.999, "10.0 s"], [42.51, "42.5 s"], [59.97, "1 m 00 s"], [80, "1 m 20 s"], [3599.6, "1 h 00 m"],
    [49_920, "13 h 52 m"], [183_600, "2 d 03 h"], [-2, "−2.00 s"],
  ];
  for (const [seconds, words] of cases) assert.equal(format.duration(seconds), words);
});

test("what is not known is a dash, never a zero", () => {
  for (const nothing of [null, undefined, NaN, Infinity]) {
    for (const write of [format.duration, format.percent, format.bytes, format.byteRate, format.count, format.number]) {
      assert.equal(write(nothing), "–");
    }
  }
  assert.equal(format.dateTime(null, "utc"), "–");
});

test("percent has no decimals from 10 on", () => {
  assert.deepEqual([0, 4.21, 9.94, 9.96, 41.2, 100].map(format.percent), ["0 %", "4.2 %", "9.9 %", "10 %", "41 %", "100 %"]);
  assert.equal(format.share(0.62), "62 %");
});

test("bytes step by 1024", () => {
  assert.deepEqual(
    [0, 999, 1536, 1024 ** 2, 8254390272, 150 * 1024 ** 3].map(format.bytes),
    ["0 B", "999 B", "1.5 KiB", "1 MiB", "7.7 GiB", "150 GiB"],
  );
  assert.equal(format.byteRate(41e6), "39.1 MiB/s");
});

test("counts are grouped, plural fits the number", () => {
  assert.equal(format.count(2111000), "2\u202f111\u202f000");
  assert.equal(format.plural(1, "job"), "1 job");
  assert.equal(format.plural(2, "job"), "2 jobs");
});

test("hardware says nodes and GPUs", () => {
  assert.equal(format.hardware(0, 0), "–");
  assert.equal(format.hardware(1, 0), "1 node");
  assert.equal(format.hardware(2, 16), "2 × 8 GPUs");
  assert.equal(format.hardware(2, 3), "2 × 3 in all GPUs");
});

test("times are relative, UTC or local, and say which", () => {
  const us = 1795205614123456;
  assert.equal(format.dateTime(us, "utc"), "2026-11-20 20:13:34 UTC");
  assert.equal(format.dateTime(us, "utc", false), "2026-11-20 20:13:34");
  assert.match(format.dateTime(us, "local"), /local$/);
  assert.equal(format.instant(90_500, 10_000, "relative"), "1:21");
  assert.equal(format.instant(90_500, 10_000, "relative", 1), "1:20.5");
  assert.equal(format.instant(3_723_000, 0, "utc"), "01:02:03");
  assert.equal(format.instant(90_000_000, 0, "utc", 1), "01-02 01:00:00.0");
  assert.deepEqual([75_600_000, 86_400_000, 97_200_000].map((ms) => format.axisInstant(ms, 0, "utc")), ["21:00:00", "01-02", "03:00:00"]);
  assert.equal(format.axisInstant(90_000_000, 0, "relative"), "25:00:00");
  assert.equal(format.sinceStart(3_723_000), "1:02:03");
  assert.equal(format.sinceStart(-500, 1), "−0.5 s");
});

test("a time that no clock can show is a dash", () => {
  assert.equal(format.dateTime(9e18, "utc"), "–");
});

test("axis values are without zeros after the point", () => {
  assert.equal(format.axisValue(0.075, "s"), "75 ms");
  assert.deepEqual([0.1, 0.0025, 1.5, 20].map((value) => format.axisValue(value, "s")), ["100 ms", "2.5 ms", "1.5 s", "20 s"]);
  assert.equal(format.axisValue(100, "%"), "100 %");
  assert.equal(format.axisValue(3, ""), "3");
  assert.equal(format.axisValue(10 * 1024 ** 2, "bytes/s"), "10 MiB/s");
});

test("ticks of local time are at round times on both sides of a change of summer time, with the date at midnight", () => {
  const before = process.env["TZ"];
  process.env["TZ"] = "Europe/Berlin";
  try {
    const context = { zone: "local", startMs: 0 } as const;
    const ticks = (from: string, hours: number, every: number) =>
      timeSplits(Date.parse(from), Date.parse(from) + hours * 36e5, every * 36e5, context).map((ms) => format.axisInstant(ms, 0, "local"));
    assert.deepEqual(ticks("2026-03-28T17:00:00Z", 36, 6), ["18:00:00", "03-29", "06:00:00", "12:00:00", "18:00:00", "03-30", "06:00:00"]);
    assert.deepEqual(ticks("2026-10-24T16:00:00Z", 36, 6), ["18:00:00", "10-25", "06:00:00", "12:00:00", "18:00:00", "10-26"]);
    assert.deepEqual(ticks("2026-03-29T00:00:00Z", 3, 1), ["01:00:00", "03:00:00", "04:00:00", "05:00:00"]);
  } finally {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  }
});
