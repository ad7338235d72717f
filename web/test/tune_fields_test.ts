import assert from "node:assert/strict";
import { test } from "node:test";
import { givenOf, rangeOf, refusalOf } from "../src/job/rules/tune_fields";
import type { RuleParameter } from "../src/model";

const share: RuleParameter = { name: "threshold", default: 20, minimum: 0, maximum: 100, unit: "%", help: "" };
const gpu = { ...share, name: "gpu_threshold" };
const window: RuleParameter = { name: "window", default: 500, minimum: 1, maximum: 100_000, unit: "samples", help: "" };
const metric: RuleParameter = { name: "metric", default: null, minimum: null, maximum: null, unit: "", help: "" };
const per: RuleParameter = { ...metric, name: "per", default: "device" };

test("numbers are sent as numbers, nothing as the default, and the rest as it stands", () => {
  const given = givenOf([share, gpu, window, metric, per], { threshold: " 1.5 ", gpu_threshold: "many", window: "120s", metric: "7", per: "" });
  assert.deepEqual(given, { threshold: 1.5, gpu_threshold: "many", window: "120s", metric: "7", per: null });
});

test("a range has its unit, and its default", () => {
  assert.equal(rangeOf(share), "0 to 100 %, default 20 %");
  assert.equal(rangeOf(window), "1 to 100\u202f000 samples, or a time such as 120s, default 500 samples");
  assert.equal(rangeOf(metric), "must be given");
  assert.equal(rangeOf(per), "default device");
  assert.equal(rangeOf({ ...share, minimum: -1e18, maximum: 1e18, default: null }), "must be given");
});

test("a refusal is about the parameter that it names first, and begins with it", () => {
  const all = [share, gpu, window];
  const words = (sentence: string) => refusalOf(all, `Invalid body: parameters: CPUBottleneck: ${sentence}`);
  assert.deepEqual(words("gpu_threshold is 101, but must be a number from 0 to 100 %"), {
    of: "gpu_threshold", words: "gpu_threshold is 101, but must be a number from 0 to 100 %.",
  });
  assert.equal(words("threshold is -1, but must not be above gpu_threshold, which is 10 %")?.of, "threshold");
  assert.equal(refusalOf(all, "Not allowed: the role may not do this"), null);
});
