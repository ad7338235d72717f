import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

// Text from outside is only ever text: nothing in the page's own source turns text into markup or
// into a program, or sends it elsewhere. The policy of every answer forbids it too; this test names the line.

const kForbidden: readonly RegExp[] = [
  /innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|parseFromString|setHTMLUnsafe|srcdoc/i,
  /document\s*\.\s*write/,
  /\beval\b|\bnew\s+Function\b|\bFunction\s*\(/,
  /set(Timeout|Interval)\s*\(\s*["'`]/,
  /\.setAttribute(NS)?\s*\(\s*["'`](on|style|href|src)/,
  /\bjavascript:/i,
  /\.(href|src|action|location)\s*=(?!=)|location\.(assign|replace)\s*\(/,
];
/** Lines that may match all the same: this one is the address of a file that the page itself has made. */
const kAllowed: readonly string[] = ["src/job/save_text.ts: link.href = url;"];

function sources(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sources(path) : /\.tsx?$/.test(path) ? [path] : [];
  });
}

function found(paths: readonly string[], pattern: RegExp): readonly string[] {
  return paths.flatMap((path) =>
    readFileSync(path, "utf8").split("\n").filter((line) => pattern.test(line)).map((line) => `${path}: ${line.trim()}`));
}

test("no source makes markup or a program of a text", () => {
  const paths = sources("src");
  assert.ok(paths.length > 30, `${paths.length} files`);
  for (const pattern of kForbidden) {
    assert.deepEqual(found(paths, pattern).filter((line) => !kAllowed.includes(line)), [], String(pattern));
  }
});

test("every forbidden form is recognised", () => {
  const examples = [
    "el.innerHTML = x", "<b dangerouslySetInnerHTML={x} />", "document.write(x)", "eval(x)", "new Function(x)",
    'setTimeout("x()", 1)', 'el.setAttribute("onclick", x)', "a.href = x", "window.location = x", "location.assign(x)",
    '<a href="javascript:x">', "el.insertAdjacentHTML(x, y)",
  ];
  for (const example of examples) assert.ok(kForbidden.some((pattern) => pattern.test(example)), example);
});

test("only api.ts asks the service, and only it and no page the network", () => {
  assert.deepEqual(new Set(found(sources("src"), /\bfetch\s*\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon/).map((line) => line.split(":")[0])), new Set(["src/api.ts"]));
});
