// Figures of the web page while a job runs: node bench/ui_live.mjs URL JOB [MINUTES] [TABS]. One tab follows the job for MINUTES (3;
// 30 is the long form): growth of its heap after a collection, its layout shift, its calls of the API a second. The calls that it made
// from its load on are then made again, in the same rhythm, by TABS (20) programs at once, without browsers that would take the CPU
// time: how long the service took for each. tests/browser must have its packages.

import { launch, openPage } from "../tests/browser/support/chromium.mjs";

const [url, job, minutes = "3", tabs = "20"] = process.argv.slice(2);
if (!url || !job) {
  console.error("usage: node bench/ui_live.mjs URL JOB [MINUTES] [TABS]");
  process.exit(2);
}
const kSettleMs = 20_000; // the first answers, and what is loaded late
const kTogetherMs = 30_000;
const address = `${url}/jobs/${encodeURIComponent(job)}`;

const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))] ?? NaN;
const megabytes = (bytes) => (bytes / 2 ** 20).toFixed(2);

/** Bytes of the page's heap that something still holds. */
async function heldBytes(session) {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize;
}

/** Follows the job in one tab, prints what that costs, and returns the calls of its first half minute. */
async function follow(browser) {
  const page = await openPage(browser);
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  const began = performance.now();
  const calls = [];
  page.on("request", (request) => void (/\/api\//.test(request.url()) && calls.push({ atMs: performance.now() - began, url: request.url() })));
  await page.goto(address);
  await page.waitForTimeout(kSettleMs);
  const before = await heldBytes(session);
  const shifted = await page.evaluate(() => window.noted.shift);
  const many = calls.length;
  await page.waitForTimeout(Number(minutes) * 60_000);
  const after = await heldBytes(session);
  const shift = await page.evaluate(() => window.noted.shift);
  console.log(`${minutes} minutes live: heap ${megabytes(before)} to ${megabytes(after)} MiB, ${megabytes(after - before)} more; layout shift ${shifted.toFixed(4)} at load, ${(shift - shifted).toFixed(4)} since; ${((calls.length - many) / Number(minutes) / 60).toFixed(2)} calls/s`);
  await page.context().close();
  return calls.filter(({ atMs }) => atMs < kTogetherMs);
}

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes the calls of one tab again; how long each took, in ms. */
async function again(calls, lateMs) {
  const began = performance.now() + lateMs;
  const took = calls.map(async ({ atMs, url: called }) => {
    await wait(Math.max(0, began + atMs - performance.now()));
    const asked = performance.now();
    const answer = await fetch(called);
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`${called}: HTTP ${answer.status}`);
    return performance.now() - asked;
  });
  return Promise.all(took);
}

async function together(calls) {
  const all = (await Promise.all(Array.from({ length: Number(tabs) }, (_, i) => again(calls, (i * 1000) / Number(tabs))))).flat();
  console.log(`${tabs} tabs: ${all.length} calls in ${kTogetherMs / 1000} s, p50 ${quantile(all, 0.5).toFixed(1)} ms, p95 ${quantile(all, 0.95).toFixed(1)} ms, longest ${Math.max(...all).toFixed(0)} ms`);
}

const browser = await launch();
let calls;
try {
  calls = await follow(browser);
} finally {
  await browser.close();
}
await together(calls);
