import assert from "node:assert/strict";
import { test } from "node:test";
import { axeViolations } from "./support/chromium.mjs";
import { page, service, usePage } from "./support/mock_page.mjs";
import { sampleJob } from "./support/sample_jobs.mjs";

// The marks on the strip of the whole job, its wheel, and what it asks for.

const kStart = Math.floor(Date.now() / 1000 - 7200) * 1e6;
const at = (second) => kStart + second * 1e6;
const event = (kind, second) => ({ kind, node: "host-1", at: "", at_us: at(second), count: 1, detail: {} });
const trace = { rank: 0, from_us: at(240), to_us: at(252), on_our_clock: true };

usePage(() => service.reset([sampleJob({
  name: "mlp-demo", startedUs: kStart, seconds: 600, gpus: 2, custom: { "user.epoch": [""] },
  windows: [{ id: "1", start_step: 1000, num_steps: 10, traces: [trace], answers: [] }],
  events: [event("rank_connected", 420), event("rank_ended", 400), event("rank_connected", 4), event("agent_started", 1)],
})]));

async function open(part) {
  await page.goto(`${service.url}/jobs/mlp-demo${part}`);
  await page.locator(".strip-fired").first().waitFor({ state: "attached" });
}

const words = (kind) => page.locator(`.strip-${kind} > title`).allTextContents();

test("the strip marks where rules fired, windows, restarts and epochs, each with its words", async () => {
  for (const part of ["", "/system", "/steps", "/heatmap", "/system?from=60000&to=120000"]) {
    await open(part);
    assert.match((await words("fired"))[0], /^DataloaderBottleneck, 1:00 to 3:00: rank 0 waited for data/, part);
    assert.equal((await words("fired")).length, 2, part);
    assert.deepEqual(await words("window"), ["Window 1, steps 1000 to 1009: 12.0 s from 4:00"], part);
    assert.deepEqual(await words("restart"), ["Restart, 7:00"], part);
    await page.locator(".strip-epoch").first().waitFor({ state: "attached" });
    assert.equal((await words("epoch")).length, 13, part);
    assert.equal(await page.locator(".brush-strip > desc").textContent(), "Marks on the strip: 2 times in which rules fired, 1 recorded window, 1 restart, 13 new epochs.");
  }
  const [strip, fired] = [await page.locator(".brush-strip").boundingBox(), await page.locator(".strip-fired").nth(1).boundingBox()];
  assert.ok(Math.abs((fired.x + fired.width / 2 - strip.x) / strip.width - 0.6) < 0.01, "at its time");
  assert.deepEqual(await axeViolations(page), []);
});

test("what the strip needs comes with the charts: two requests for each part of the page", async () => {
  service.jobs[0].custom = {}; // the charts of custom metrics cost one more
  for (const part of ["", "/system", "/steps", "/heatmap", "/system?from=60000&to=120000"]) {
    await page.goto("about:blank");
    service.sent.length = 0;
    await open(part);
    await page.waitForLoadState("networkidle");
    const sent = service.sent.filter((url) => url.includes("/api/"));
    assert.equal(sent.length, 2, `${part}: ${sent}`);
  }
});

test("a list that cannot be read leaves its marks out, and nothing else", async () => {
  page.expected.push(/status of 500/);
  service.fail(/\/windows\?/);
  await open("/system");
  assert.deepEqual([(await words("window")).length, (await words("restart")).length], [0, 1]);
  assert.equal(await page.locator(".notice-red").count(), 0);
});

test("Ctrl and the wheel zoom on the strip around the pointer", async () => {
  await open("/system?from=100000&to=500000");
  const { x, y, width, height } = await page.locator(".brush-box").boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -250);
  await page.keyboard.up("Control");
  await page.waitForFunction(() => !location.search.includes("from=100000"));
  const keys = new URL(page.url()).searchParams;
  assert.ok(Math.abs(Number(keys.get("from")) - 200_000) < 3000 && Math.abs(Number(keys.get("to")) - 400_000) < 3000, page.url());
  await page.mouse.wheel(0, 300);
  assert.match(page.url(), /from=2|from=19/, "without Ctrl the page scrolls");
});
