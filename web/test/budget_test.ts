import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

// Each page has a budget: kilobytes of gzipped JavaScript that it needs before it can show anything.

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}
const manifest = JSON.parse(readFileSync("dist/manifest.json", "utf8")) as Record<string, Chunk>;

function kilobytes(...names: readonly string[]): number {
  const seen = new Set<string>();
  const visit = (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    manifest[name]?.imports?.forEach(visit);
  };
  names.forEach(visit);
  const files = [...seen].map((name) => manifest[name]?.file ?? assert.fail(name)).filter((file) => file.endsWith(".js"));
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(`dist/${file}`), { level: 9 }).length, 0) / 1024;
}

const kEntry = "index.html";

const kCharts = "src/job/chart.tsx";
/** What loads another chunk. Where that chunk imports it in turn, it has a name that the manifest does not tell beforehand. */
const loaderOf = (chunk: string) => Object.keys(manifest).find((name) => manifest[name]?.dynamicImports?.includes(chunk)) ?? assert.fail(chunk);
/** The frame of a job's page. */
const kJobPage = loaderOf(kCharts);
const kStepsPage = loaderOf("src/job/steps/tables_chunk.ts");
const kParts = [...["overview", "system", "heat", "rules", "report"].map((part) => `src/job/${part}/page.tsx`), kStepsPage];
const kDrawn = new Set(["src/job/overview/page.tsx", "src/job/system/page.tsx", kStepsPage]);

test("the entry is at most 20 KB, a page at most 36, a part of a job's page with its charts at most 52, all at most 120", () => {
  assert.ok(kilobytes(kEntry) <= 20, `entry: ${kilobytes(kEntry).toFixed(1)}`);
  for (const page of ["jobs", "compare", "fleet", "alerts", "settings_page", "tokens", "login"].map((page) => `src/${page}/page.tsx`)) {
    const size = kilobytes(kEntry, page);
    assert.ok(size <= 36, `${page}: ${size.toFixed(1)}`);
  }
  for (const part of kParts) {
    const size = kilobytes(kEntry, kJobPage, part);
    const drawn = kDrawn.has(part) ? kilobytes(kEntry, kJobPage, part, kCharts) : size;
    console.log(`${part}: ${size.toFixed(1)} KB, with charts ${drawn.toFixed(1)} KB`);
    assert.ok(size <= 36, `${part}: ${size.toFixed(1)}`);
    assert.ok(drawn <= 52, `${part} with charts: ${drawn.toFixed(1)}`);
  }
  console.log(`entry: ${kilobytes(kEntry).toFixed(1)} KB, all: ${kilobytes(...Object.keys(manifest)).toFixed(1)} KB`);
  assert.ok(kilobytes(...Object.keys(manifest)) <= 120);
});

test("nothing inline and nothing from elsewhere is in the page", () => {
  const html = readFileSync("dist/index.html", "utf8");
  assert.doesNotMatch(html, /<style|\sstyle=|\son\w+=/);
  for (const [, attributes, body] of html.matchAll(/<script([^>]*)>([^<]*)</g)) {
    assert.match(attributes ?? "", /src="\/assets\//);
    assert.equal(body, "");
  }
  assert.doesNotMatch(html.replaceAll("http://www.w3.org/2000/svg", ""), /(src|href)="https?:/);
});

test("no built script writes markup from text", () => {
  for (const { file } of Object.values(manifest)) {
    if (!file.endsWith(".js")) continue;
    const code = readFileSync(`dist/${file}`, "utf8");
    assert.doesNotMatch(code, /\.outerHTML\s*=|insertAdjacentHTML|document\.write|\beval\(/, file);
  }
});
