import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { leanUplot } from "../tools/lean_uplot.mjs";

const kUplot = readFileSync("node_modules/uplot/dist/uPlot.esm.js", "utf8");

test("every cut fits this version of uPlot, and what charts are made of stays", () => {
  const lean = leanUplot(kUplot);
  assert.ok(lean.length < kUplot.length);
  for (const kept of ["paths.linear", "uPlot.sync = _sync", "export { uPlot as default }"]) assert.ok(lean.includes(kept), kept);
});

test("another version, in which a cut does not fit, stops the build", () => {
  assert.throws(() => leanUplot(kUplot.replace("const showLegend = legend.show;", "const shown = legend.show;")), /uPlot: legends: found 0 times, not 1/);
  assert.throws(() => leanUplot(""), /smooth lines/);
});
