import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { axeViolations, pixelsNear } from "./support/chromium.mjs";
import { page, service, usePage } from "./support/mock_page.mjs";
import { sampleJob } from "./support/sample_jobs.mjs";

// What can be done with the card of a chart: its menu, its lines, and links to what is on screen.

const kStart = Math.floor(Date.now() / 1000 - 3600) * 1e6;

usePage(
  () => service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 120, gpus: 2 })]),
  { permissions: ["clipboard-read", "clipboard-write"] },
);

const chart = (id) => page.locator(".chart", { has: page.locator(`#chart-${id}`) });
const menu = (id) => chart(id).locator(".more");
const copied = () => page.evaluate(() => navigator.clipboard.readText());

async function open(query = "") {
  await page.goto(`${service.url}/jobs/mlp-demo/system${query}`);
  await menu("memory").waitFor();
}

test("the menu of a chart copies a link that leads back to it, with the span on screen", async () => {
  await open("?from=20000&to=60000");
  await menu("memory").locator("summary").click();
  assert.deepEqual(await axeViolations(page), []);
  await menu("memory").getByRole("button", { name: "Copy link" }).click();
  await menu("memory").getByText("Copied").waitFor();
  assert.equal(await copied(), `${service.url}/jobs/mlp-demo/system?from=20000&to=60000&show=memory`);
  await page.goto(await copied());
  await page.locator(".chart-chosen #chart-memory").waitFor();
});

test("Escape and the focus elsewhere close the menu", async () => {
  await open();
  const summary = menu("memory").locator("summary");
  await summary.press("Enter");
  const item = menu("memory").getByRole("button", { name: "Copy link" });
  await item.focus();
  await page.keyboard.press("Escape");
  assert.equal(await item.isVisible(), false);
  assert.ok(await summary.evaluate((element) => element === document.activeElement));
  await summary.press("Enter");
  await menu("cpu").locator("summary").click();
  await item.waitFor({ state: "hidden" });
});

test("the picture of a chart is a file with its title, names, plot and sentence", async () => {
  await open();
  await menu("gpu").locator("summary").click();
  const [download] = await Promise.all([page.waitForEvent("download"), menu("gpu").getByRole("button", { name: "PNG" }).click()]);
  assert.equal(download.suggestedFilename(), "mlp-demo-gpu.png");
  const bytes = await readFile(await download.path());
  assert.deepEqual([...bytes.subarray(1, 4)], [...Buffer.from("PNG")]);
  const plot = await chart("gpu").locator("canvas").evaluate(({ width, height }) => [width, height]);
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  assert.ok(width === plot[0] + 32 && height > plot[1] + 90, `${width} x ${height}`);
  await chart("gpu").getByRole("button", { name: "Table of" }).click();
  await menu("gpu").locator("summary").click();
  assert.equal(await menu("gpu").getByRole("button", { name: "PNG" }).count(), 0, "a table is no picture");
});

test("a chart fills the screen, and the way back is in its menu", async () => {
  await open();
  await menu("gpu").locator("summary").click();
  await menu("gpu").getByRole("button", { name: "Full screen" }).click();
  await page.locator(".chart:fullscreen").waitFor();
  await page.waitForFunction(() => document.querySelector(".chart:fullscreen canvas").clientHeight > 400);
  await menu("gpu").getByRole("button", { name: "Leave full screen" }).click();
  await page.waitForFunction(() => document.fullscreenElement === null);
  await page.waitForFunction(() => document.querySelector("#chart-gpu").closest(".chart").querySelector("canvas").clientHeight === 168);
});

test("the link of a page that follows a running job goes on to follow it, or keeps this moment", async () => {
  service.jobs = [sampleJob({ name: "mlp-demo", startedUs: Date.now() * 1000 - 60e6, seconds: 60, status: "InProgress" })];
  await open();
  const bar = page.locator(".toolbar .more");
  await bar.locator("summary").click();
  await bar.getByRole("button", { name: "Copy link that follows live" }).click();
  await bar.getByText("Copied").waitFor();
  assert.equal(await copied(), `${service.url}/jobs/mlp-demo/system`);
  await bar.getByRole("button", { name: "Copy link to this moment" }).click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).includes("?"));
  assert.match(await copied(), /system\?from=0&to=6\d{4}$/);
});

test("without the browser's clipboard a link is copied all the same", async () => {
  await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await open();
  await page.evaluate(() => document.addEventListener("copy", () => (window.copiedText = document.activeElement.value)));
  await page.locator(".toolbar").getByRole("button", { name: "Copy link" }).click();
  await page.locator(".toolbar").getByText("Copied").waitFor();
  assert.equal(await page.evaluate(() => window.copiedText), `${service.url}/jobs/mlp-demo/system`);
});

test("a line is drawn alone by a click on its name, and the link keeps that", async () => {
  await open();
  const kBlue = "#0b5cad";
  const [first, second] = [chart("gpu").getByRole("button", { name: "host-1 0" }), chart("gpu").getByRole("button", { name: "host-1 1" })];
  assert.ok((await pixelsNear(page, "gpu", kBlue)) > 100);
  await second.click();
  await page.waitForURL(/system\?lines=gpu~host-1\+1$/);
  assert.deepEqual([await first.getAttribute("aria-pressed"), await second.getAttribute("aria-pressed")], ["false", "true"]);
  await page.waitForFunction(() => document.querySelector("#chart-gpu-summary").textContent.startsWith("host-1 1: mean"));
  assert.equal(await pixelsNear(page, "gpu", kBlue), 0, "the other is not drawn");
  assert.ok((await pixelsNear(page, "gpupower", kBlue)) > 50, "other charts stay as they are");
  await page.reload();
  await second.waitFor();
  assert.equal(await first.getAttribute("aria-pressed"), "false");
  assert.equal(await pixelsNear(page, "gpu", kBlue), 0);
  assert.deepEqual(await axeViolations(page), []);
  await first.click({ modifiers: ["Control"] });
  await page.waitForURL(/system$/);
  await page.goBack();
  assert.doesNotMatch(page.url(), /lines=/, "it leaves no entry for Back");
});

test("the reader chooses the columns of the charts and their height, and the link keeps both from part to part", async () => {
  const columns = () => page.locator(".charts").first().evaluate((grid) => getComputedStyle(grid).gridTemplateColumns.split(" ").length);
  await open();
  assert.equal(await columns(), 2);
  await page.getByLabel("Columns").selectOption("3");
  await page.waitForURL(/system\?cols=3$/);
  assert.equal(await columns(), 3);
  await page.getByLabel("Compact").check();
  await page.waitForURL(/system\?cols=3&density=compact$/);
  await page.waitForFunction(() => document.querySelector("#chart-cpu").closest(".chart").querySelector("canvas").clientHeight === 104);
  await page.locator(".tabs").getByRole("link", { name: "Overview" }).click();
  await page.waitForURL(/mlp-demo\?cols=3&density=compact$/);
  await chart("cpu").waitFor();
  assert.equal(await columns(), 3);
  await open("?cols=7&density=tiny");
  assert.equal(await columns(), 2, "others are as if they were not there");
  assert.deepEqual(await axeViolations(page), []);
});
