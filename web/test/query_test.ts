import assert from "node:assert/strict";
import { test } from "node:test";
import { numberOf, valueOf, withKeys } from "../src/query";
import { match } from "../src/router";

test("equal views have equal links, whatever the order they came in", () => {
  assert.equal(withKeys("?sort=name&q=albef", {}), withKeys("?q=albef&sort=name", {}));
  assert.equal(withKeys("", { to: "9", from: "1", q: "a" }), "?q=a&from=1&to=9");
});

test("a default is left out", () => {
  assert.equal(withKeys("?q=albef&status=Failed", { q: null }), "?status=Failed");
  assert.equal(withKeys("?q=albef", { q: "" }), "");
});

test("unknown keys are kept, also without a value and twice", () => {
  assert.equal(withKeys("?zeta=1&zeta=2&flag&q=a", { q: "b" }), "?q=b&zeta=1&zeta=2&flag");
});

test("any text survives the way through the link", () => {
  for (const text of ["a b", "<script>", "100 %", "ä+ö&=?#", "now-7d", "x,y:z"]) {
    assert.equal(valueOf(withKeys("", { q: text }), "q"), text);
  }
});

test("numbers are numbers or nothing", () => {
  assert.equal(numberOf("?from=1200", "from"), 1200);
  for (const bad of ["?from=", "?from=1e9", "?from=abc", "?from=NaN", "?from=99999999999999999999", ""]) {
    assert.equal(numberOf(bad, "from"), null);
  }
});

test("paths lead to pages, everything else to none", () => {
  assert.deepEqual(match("/"), { page: "jobs" });
  assert.deepEqual(match("/jobs"), { page: "jobs" });
  assert.deepEqual(match("/jobs/mlp-demo"), { page: "job", name: "mlp-demo", tab: "overview" });
  assert.deepEqual(match("/jobs/mlp-demo/steps"), { page: "job", name: "mlp-demo", tab: "steps" });
  assert.deepEqual(match("/jobs/a%20b"), { page: "job", name: "a b", tab: "overview" });
  for (const path of ["/jobs/%E0%A4%A", "/job", "/jobs/a/b", "/jobs/a/overview", "/jobs/a/steps/1", "/api/v1/jobs", "//jobs"]) {
    assert.deepEqual(match(path), { page: "none" });
  }
});
