import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { page, service, usePage } from "./support/mock_page.mjs";
import { kHolders } from "./support/sample_fleet.mjs";
import { sampleJob } from "./support/sample_jobs.mjs";

// A link is the view: fifty of them, drawn at random from all pages and their keys, show the same after a reload.

const kLinks = 50;
const kStart = Math.floor(Date.now() / 1000 - 7200) * 1e6;
const kSeed = Number(process.env.STEPSCOPE_SEED ?? 20261127);

usePage(() => {
  service.reset([
    sampleJob({ name: "albef-1", startedUs: kStart, seconds: 300, nodes: 2, gpus: 4, group: "albef", custom: { "user.loss": ["rank0"] } }),
    sampleJob({ name: "albef-2", startedUs: kStart + 1000e6, seconds: 200, gpus: 2, group: "albef" }),
  ]);
  service.holders = kHolders;
});

/** Numbers from 0 to 1 that are the same each time. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const kSpans = ["", "from=60000&to=120000", "from=0&to=5000", "from=200000&to=299000", "to=90000"];
const kTimes = ["", "tz=utc", "tz=local", "tz=relative"];
/** The pages with the keys that they know, one of each row at a time; and what is on screen once a page is drawn. */
const kPages = [
  ["/jobs/albef-1", [kSpans, kTimes, ["", "at=70000"], ["", "rank=0"]], ".plot canvas"],
  ["/jobs/albef-1/system", [kSpans, kTimes, ["", "at=70000", "at=299000"], ["", "show=cpu", "show=steps"], ["", "lines=gpu~host-1+0,disk~Write"], ["", "dev=host-1", "dev=host-1+0,host-2+1"], ["", "cols=3", "cols=1&density=compact"]], ".plot canvas"],
  ["/jobs/albef-1/heatmap", [kSpans, kTimes, ["", "at=70000&dev=host-1+0"], ["", "metric=gpu_util_percent", "metric=cpu_util_percent"], ["", "order=mean"]], ".heat-canvas"],
  ["/jobs/albef-1/steps", [kSpans, kTimes, ["", "rank=0"]], "#ranks-title"],
  ["/jobs/albef-1/rules", [["", "show=DataloaderBottleneck"]], "#rules-title"],
  ["/jobs", [["", "q=albef", "q=albef-2"], ["", "sort=name", "sort=-duration", "sort=-issues"], ["", "status=Completed"], ["", "after=now-24h"], kTimes], ".job-link"],
  ["/compare", [["a=albef-1&b=albef-2", "a=albef-2&b=albef-1", "a=albef-1&b=albef-2&align=time"]], "#compare-title"],
  ["/fleet", [["", "by=group", "by=job", "by=node", "by=cause"], ["", "user=ann", "cause=preprocessing"], ["", "sort=held"], ["", "after=now-30d", "after=2026-11-16&before=2026-11-22"]], "#fleet-title"],
];

function linksFrom(random) {
  const one = (list) => list[Math.floor(random() * list.length)];
  return Array.from({ length: kLinks }, (_, i) => {
    const [path, rows, ready] = kPages[i % kPages.length];
    const query = rows.map(one).filter((part) => part !== "").join("&");
    return [`${path}${query === "" ? "" : `?${query}`}`, ready];
  });
}

/** Numbers that change with the clock, not with the view. */
const timeless = (text) => text.replace(/(updated|Last answer|Last samples) [^·]*?(ago|just now)/g, "$1").replace(/\d[\d\s hms]* ago|just now/g, "");

/** All that a reader sees: address, words, choices, and the pixels of each canvas; once nothing of it changes for half a second. */
async function viewOf(ready) {
  await page.locator(ready).first().waitFor();
  await page.waitForLoadState("networkidle");
  let seen = await viewNow();
  for (let tries = 0; tries < 40; ++tries) {
    await page.waitForTimeout(500);
    const again = await viewNow();
    if (JSON.stringify(again) === JSON.stringify(seen)) break;
    seen = again;
  }
  return seen;
}

async function viewNow() {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const seen = await page.evaluate(() => ({
    url: window.location.pathname + window.location.search,
    words: document.querySelector("main").innerText,
    choices: [...document.querySelectorAll("main select, main input")].map((field) => (field.type === "checkbox" ? field.checked : field.value)),
    pixels: [...document.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL()),
  }));
  return { ...seen, words: timeless(seen.words), pixels: seen.pixels.map((data) => createHash("sha256").update(data).digest("hex")) };
}

/** The view of a link, and that after a reload. A span that ends now shows other times when the minute changed between the two. */
async function viewedTwice(link, ready, tries = 3) {
  const began = minuteNow();
  await page.goto(service.url + link);
  const first = await viewOf(ready);
  await page.reload();
  const second = await viewOf(ready);
  return link.includes("now-") && minuteNow() !== began && tries > 1 ? viewedTwice(link, ready, tries - 1) : [first, second];
}
const minuteNow = () => Math.floor(Date.now() / 60_000);

test(`${kLinks} links show the same after a reload, and the address stays as it was given`, async () => {
  const links = linksFrom(randomFrom(kSeed));
  let canvases = 0;
  for (const [link, ready] of links) {
    const [first, second] = await viewedTwice(link, ready);
    assert.equal(first.url, link);
    assert.deepEqual(second, first, link);
    canvases += first.pixels.length;
  }
  assert.ok(canvases > 40, `${canvases} canvases were compared`);
});

test("Back undoes one zoom, Forward does it again", async () => {
  await page.goto(`${service.url}/jobs/albef-1/system?from=60000&to=240000`);
  const first = await viewOf(".plot canvas");
  await page.keyboard.press("+");
  await page.waitForFunction((url) => window.location.search !== url, "?from=60000&to=240000");
  const zoomed = await viewOf(".plot canvas");
  await page.goBack();
  assert.deepEqual(await viewOf(".plot canvas"), first);
  await page.goForward();
  assert.deepEqual(await viewOf(".plot canvas"), zoomed);
});
