import assert from "node:assert/strict";
import { test } from "node:test";
import { axeViolations } from "./support/chromium.mjs";
import { page, service, usePage } from "./support/mock_page.mjs";
import { sampleJob } from "./support/sample_jobs.mjs";

// The moment and the span that the pictures of a job share: the strip of the whole job, the pinned moment, cells and histograms in the link.

const kStart = Math.floor(Date.now() / 1000 - 7200) * 1e6;
const kForward = { name: "forward", count: 1200, total_seconds: 12, min_seconds: 0.0042, mean_seconds: 0.01, max_seconds: 0.4, histogram: { edges_seconds: [0.0042, 0.0052, 0.3, 0.4], counts: [1000, 0, 200] } };

usePage(() => service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 600, gpus: 2, annotations: [kForward] })]));

const strip = () => page.locator(".brush-box");
const keyOf = (name) => Number(new URL(page.url()).searchParams.get(name));

async function open(part) {
  await page.goto(`${service.url}/jobs/mlp-demo${part}`);
  await strip().waitFor();
}

test("a part of the strip becomes the span on screen, its edges move by hand and by key, and Back undoes each", async () => {
  await open("");
  await page.locator('.plot').first().waitFor();
  await page.waitForFunction(() => /^M\d+\.\d 100V/.test(document.querySelector(".brush-use")?.getAttribute("d") ?? ""));
  await strip().scrollIntoViewIfNeeded();
  const { x, y, width } = await strip().boundingBox();
  const drag = async (from, to) => {
    await page.mouse.move(x + from * width, y + 15);
    await page.mouse.down();
    await page.mouse.move(x + to * width, y + 15, { steps: 4 });
    await page.mouse.up();
  };
  await drag(0.25, 0.5);
  await page.waitForURL(/from=\d+&to=\d+/);
  assert.ok(Math.abs(keyOf("from") - 150_000) < 5_000 && Math.abs(keyOf("to") - 300_000) < 5_000, page.url());
  const before = page.url();
  await drag(0.4, 0.5); // the window itself
  await page.waitForFunction((url) => location.href !== url, before);
  assert.ok(Math.abs(keyOf("from") - 210_000) < 6_000 && Math.abs(keyOf("to") - 360_000) < 6_000, page.url());
  await page.getByRole("slider", { name: "End of the span on screen" }).press("Shift+ArrowRight");
  await page.waitForFunction(() => Number(new URL(location.href).searchParams.get("to")) > 400_000);
  assert.ok(Math.abs(keyOf("to") - 420_000) < 6_000, page.url());
  await page.goBack();
  assert.ok(Math.abs(keyOf("to") - 360_000) < 6_000, page.url());
  assert.deepEqual(await axeViolations(page), []);
});

test("a click on a chart pins its moment: all charts and the strip show it, the link keeps it, Escape takes it out", async () => {
  await open("/system");
  const plot = page.locator(".chart:has(#chart-cpu) .plot");
  await plot.waitFor();
  assert.equal(await page.locator(".brush-pin").count(), 0);
  await plot.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await plot.boundingBox();
  await page.mouse.click(x + width / 2, y + height / 3);
  await page.waitForURL(/[?&]at=\d+/);
  const at = keyOf("at");
  assert.ok(at > 200_000 && at < 400_000, page.url());
  await page.locator(".brush-pin").waitFor({ state: "attached" });
  await page.mouse.move(2, 2);
  const said = await plot.getAttribute("aria-valuetext");
  assert.doesNotMatch(said, /no moment chosen/);
  await page.reload();
  await page.locator(".brush-pin").waitFor({ state: "attached" });
  await plot.waitFor();
  assert.equal(await plot.getAttribute("aria-valuetext"), said, "the link shows the same values");
  await page.locator(".tabs").getByRole("link", { name: "Heat map" }).click();
  await page.waitForURL(/heatmap\?at=/);
  await page.locator(".tabs").getByRole("link", { name: "System" }).click();
  await plot.press("Escape");
  await page.waitForFunction(() => !location.search.includes("at="));
});

test("a drag on the heat map may end below it; another metric leaves no cell behind that it has not", async () => {
  await open("/heatmap?at=200000&dev=host-1+1");
  const map = page.locator(".heat-canvas");
  await map.waitFor();
  assert.match(await page.locator(".heat-axis").textContent(), /^0 s/);
  const { x, y, width, height } = await map.boundingBox();
  await page.mouse.move(x + width * 0.4, y + 4);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.7, y + height + 60, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/from=\d+&to=\d+/);
  await page.getByLabel(/^Metric/).selectOption("gpu_power_watts");
  await page.waitForURL(/dev=host-1\+1&metric=gpu_power_watts/);
  await page.getByLabel(/^Metric/).selectOption("node_cpu_percent");
  await page.waitForURL((url) => !url.search.includes("dev="));
});

test("a double click shows the whole job again, and the pin is what it was before", async () => {
  for (const at of ["", "&at=200000"]) {
    await open(`/system?from=100000&to=400000${at}`);
    const plot = page.locator(".chart:has(#chart-cpu) .plot");
    await plot.waitFor();
    await plot.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await plot.boundingBox();
    await page.mouse.dblclick(x + width / 2, y + height / 3);
    await page.waitForFunction(() => !location.search.includes("from="));
    assert.equal(new URL(page.url()).search, at.replace("&", "?"));
    await page.goBack();
    assert.equal(new URL(page.url()).search, `?from=100000&to=400000${at}`, "Back undoes the zoom alone");
  }
});

test("arrow keys held on an edge, and turns of the wheel with Ctrl, are one entry of the history", async () => {
  await open("/system?from=100000&to=400000");
  const plot = page.locator(".chart:has(#chart-cpu) .plot");
  await plot.waitFor();
  const edge = page.getByRole("slider", { name: "End of the span on screen" });
  await edge.focus();
  for (let i = 0; i < 5; i += 1) await page.keyboard.press("ArrowRight", { delay: 20 });
  await page.waitForFunction(() => location.search.includes("to=430000"));
  await page.goBack();
  assert.match(page.url(), /to=400000/);
  await plot.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await plot.locator(".u-over").boundingBox();
  await page.waitForTimeout(1100); // a second after the keys
  await page.mouse.move(x + width / 4, y + height / 2);
  await page.keyboard.down("Control");
  for (let i = 0; i < 3; i += 1) await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  await page.waitForFunction(() => !location.search.includes("from=100000"));
  const [from, to] = [keyOf("from"), keyOf("to")];
  assert.ok(Math.abs((175_000 - from) / (to - from) - 0.25) < 0.03, `the moment under the pointer stays: ${page.url()}`);
  await page.waitForTimeout(200);
  await page.goBack();
  assert.match(page.url(), /from=100000&to=400000/);
});

test("on a running job the cursor of the keys stays at its time", async () => {
  service.jobs = [sampleJob({ name: "mlp-demo", startedUs: Math.floor(Date.now() / 1000 - 60) * 1e6, seconds: 60, status: "InProgress" })];
  await page.clock.install();
  await open("/system");
  const plot = page.locator(".chart:has(#chart-cpu) .plot");
  await plot.waitFor();
  await plot.focus();
  for (const key of ["Home", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight"]) await page.keyboard.press(key);
  const said = () => plot.getAttribute("aria-valuetext");
  const before = await said();
  assert.match(before, /^1\d\.\d s: /);
  service.jobs[0].seconds = 90;
  await page.clock.runFor(2500);
  await page.getByText("0 s to 1:30").waitFor();
  assert.equal(await said(), before);
  await page.keyboard.press("ArrowRight");
  assert.match(await said(), /^1\d\.\d s: /);
});

test("the pointer on a chart is shown on the strip", async () => {
  await open("/system");
  const plot = page.locator(".plot").first();
  await plot.waitFor();
  await plot.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await plot.boundingBox();
  await page.mouse.move(x + width * 0.6, y + height / 3);
  await page.locator(".brush-cursor").waitFor({ state: "attached" });
  await page.mouse.move(2, 2);
  await page.waitForFunction(() => document.querySelector(".brush-cursor") === null);
});

test("a cell of the heat map is kept in the link, by click and by key; a wrong one is ignored", async () => {
  await open("/heatmap");
  const box = page.locator(".heat-box");
  await box.waitFor();
  await box.press("ArrowDown");
  await box.press("ArrowRight");
  await box.press("Enter");
  await page.waitForURL(/at=\d+&dev=host-1\+1/);
  const words = await page.locator(".heat-cell").textContent();
  assert.match(words, /^host-1 1, /);
  await page.reload();
  await box.waitFor();
  assert.equal(await page.locator(".heat-cell").textContent(), `${words} Show host-1 1 in System`);
  const canvas = await page.locator(".heat-canvas").boundingBox();
  await page.mouse.click(canvas.x + canvas.width * 0.8, canvas.y + 4);
  await page.waitForURL(/dev=host-1\+0/);
  await open("/heatmap?at=abc&dev=nothing");
  await box.waitFor();
  assert.match(await page.locator(".heat-cell").textContent(), /^Point at a cell/);
});

test("histograms of annotations that the link names are drawn large; names that nobody used are none", async () => {
  await open("/steps");
  await page.getByRole("button", { name: "Large histogram of forward" }).click();
  await page.waitForURL(/h=forward$/);
  const large = page.locator("section", { has: page.locator("#annotation-forward") });
  assert.equal(await large.locator(".summary").textContent(), "1\u202f200 times; most often 4.20 ms to 5.20 ms, 1\u202f000 of them; mean 10.0 ms, the longest 400 ms.");
  await page.reload();
  await large.waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await large.getByRole("button", { name: "Close forward" }).click();
  await page.waitForFunction(() => !location.search.includes("h="));
  await open("/steps?h=backward,%3Cb%3E");
  await page.getByRole("button", { name: "Large histogram of forward" }).waitFor();
  assert.equal(await page.locator("[id^=annotation-]").count(), 0);
});
