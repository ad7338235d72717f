import assert from "node:assert/strict";
import { test } from "node:test";
import { drawnPart, linesAfter, withLines } from "../src/job/lines";
import type { Panel } from "../src/job/panels";
import { withKeys } from "../src/query";

const panel = (id: string, ...labels: string[]) => ({ id, traces: labels.map((label) => ({ label })) }) as unknown as Panel;
const drawn = (of: Panel, query: string) => drawnPart(of, query).traces.map(({ label }) => label);
const link = (query: string, of: Panel, ...labels: string[]) => withKeys(query, { lines: withLines(query, of, labels) });

test("a link draws the lines that it names, of each chart its own", () => {
  const [gpu, cpu] = [panel("gpu", "host-1 0", "host-1 1", "host-2 0"), panel("cpu", "In use", "I/O wait")];
  const query = link(link("", gpu, "host-1 0", "host-2 0"), cpu, "I/O wait");
  assert.equal(query, "?lines=gpu~host-1+0~host-2+0,cpu~I%2FO+wait");
  assert.deepEqual([drawn(gpu, query), drawn(cpu, query)], [["host-1 0", "host-2 0"], ["I/O wait"]]);
  assert.equal(link(query, gpu, "host-1 0", "host-1 1", "host-2 0"), "?lines=cpu~I%2FO+wait", "all are the default");
});

test("any name survives the way through the link", () => {
  const names = ["a,b", "~", "100%", "%2C", "x=1&y", "<b>", "ä"];
  const odd = panel("user.a~b,c", ...names);
  for (const name of names) assert.deepEqual(drawn(odd, link("", odd, name)), [name]);
});

test("what is not there, or makes no sense, draws all", () => {
  const cpu = panel("cpu", "In use", "I/O wait");
  for (const query of ["", "?lines=cpu~nothing", "?lines=cpu", "?lines=gpu~In+use", "?lines=%25~%25E0%25A4", "?lines=,,~"]) assert.equal(drawnPart(cpu, query), cpu, query);
});

test("a click draws a line alone, then all again; with Ctrl it comes or goes", () => {
  const all = ["a", "b", "c"];
  assert.deepEqual(linesAfter(all, all, "b", false), ["b"]);
  assert.deepEqual(linesAfter(all, ["b"], "b", false), all);
  assert.deepEqual(linesAfter(all, ["b"], "c", false), ["c"]);
  assert.deepEqual(linesAfter(all, all, "b", true), ["a", "c"]);
  assert.deepEqual(linesAfter(all, ["a"], "c", true), ["a", "c"]);
  assert.deepEqual(linesAfter(all, ["a"], "a", true), all, "one line is there at least");
});
