import assert from "node:assert/strict";
import { test } from "node:test";
import { axeViolations } from "./support/chromium.mjs";
import { page, service, usePage } from "./support/mock_page.mjs";
import { sampleJob } from "./support/sample_jobs.mjs";

// The devices that System shows: chosen by ticks, kept in the link.

const kStart = Math.floor(Date.now() / 1000 - 3600) * 1e6;
const chart = (id) => page.locator(".chart", { has: page.locator(`#chart-${id}`) });
const lines = (id) => chart(id).locator(".legend-label").allTextContents();

usePage(() => service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 120, nodes: 2, gpus: 8 })]));

async function open(query = "") {
  await page.goto(`${service.url}/jobs/mlp-demo/system${query}`);
  await chart("gpu").locator("canvas").waitFor();
}

test("System shows the devices that are ticked, and the link keeps them", async () => {
  await open();
  assert.deepEqual(await lines("gpu"), ["Mean of 8 GPUs"]);
  await page.getByText("Devices: all, 2 nodes with 8 GPUs").click();
  await page.locator(".device-tree").getByLabel("host-2").uncheck();
  await page.waitForURL(/system\?dev=host-1$/);
  assert.deepEqual(await lines("gpu"), ["host-1 0", "host-1 1", "host-1 2", "host-1 3"]);
  await page.locator(".device-tree > li").first().getByLabel("0", { exact: true }).uncheck();
  await page.waitForURL(/dev=host-1\+1,host-1\+2,host-1\+3$/);
  assert.deepEqual(await axeViolations(page), []);
  await page.reload();
  await chart("gpu").locator("canvas").waitFor();
  assert.deepEqual(await lines("gpu"), ["host-1 1", "host-1 2", "host-1 3"]);
  assert.equal(service.calls(/metrics\?metric=gpu_util_percent%2Cgpu_mem/).length, 2, "one for each load: a choice asks for nothing");
  assert.equal(await page.locator(".notice-amber").count(), 0);
});

test("the worst four are found by name, and a filter finds a device", async () => {
  await open();
  await page.getByText("Devices: all").click();
  await page.getByRole("button", { name: "Worst 4" }).click();
  await page.waitForURL(/dev=/);
  assert.deepEqual(new URL(page.url()).searchParams.get("dev"), "host-1 0,host-2 3,host-1 1,host-2 0");
  await page.getByRole("button", { name: "All", exact: true }).click();
  await page.waitForURL(/system$/);
  await page.getByLabel("Devices whose name contains").fill("host-2 3");
  assert.deepEqual(await page.locator(".device-tree .tick").allTextContents(), ["host-2", "3"]);
});

test("of a job whose series are folded one node is shown by itself", async () => {
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 120, nodes: 64, gpus: 512, ranks: 512 })]);
  await open();
  await page.getByLabel("Devices").selectOption("host-3");
  await page.waitForURL(/dev=host-3$/);
  await chart("gpu").getByText("Mean of 8 GPUs", { exact: true }).waitFor();
  assert.equal(service.calls(/metrics\?.*node=host-3/).filter((url) => url.includes("fold")).length, 0);
  assert.equal(await page.locator(".notice-amber").count(), 0);
});

test("the use of each node in percentiles is read when it is opened, of the span on screen, with the worst node in bold", async () => {
  for (const part of ["", "/system"]) {
    await page.goto(`${service.url}/jobs/mlp-demo${part}?from=20000&to=60000`);
    await page.getByText("Use of 2 nodes in percentiles").waitFor();
    assert.equal(service.calls(/usage/).length, 0);
    await page.getByText("Use of 2 nodes in percentiles").click();
    const rows = page.getByRole("region", { name: "Use of each node" }).locator("tbody tr");
    await rows.first().waitFor();
    assert.deepEqual(await rows.allTextContents(), ["GPUhost-190 %85 %80 %60 %0 %", "GPUhost-280 %75 %70 %50 %0 %", "CPUhost-170 %65 %60 %40 %0 %", "CPUhost-280 %75 %70 %50 %0 %"]);
    assert.deepEqual(await page.locator(".usage strong").allTextContents(), ["host-2", "host-2"]);
    await page.getByRole("button", { name: "p95" }).click();
    assert.match((await rows.allTextContents()).join(), /^GPUhost-2.*GPUhost-1.*CPUhost-2.*CPUhost-1/);
    assert.equal(service.calls(new RegExp(`usage\\?from_us=${kStart + 20e6}&to_us=${kStart + 60e6}$`)).length, 1);
    await page.evaluate(() => window.scrollTo(0, 0)); // no card is half below the bar
    assert.deepEqual(await axeViolations(page), []);
    service.requests.length = 0;
  }
});

test("a kept cell of the heat map leads to its device in System", async () => {
  await page.goto(`${service.url}/jobs/mlp-demo/heatmap?at=60000&dev=host-2+1`);
  await page.getByRole("link", { name: "Show host-2 1 in System" }).click();
  await page.waitForURL(/system\?at=60000&dev=host-2\+1$/);
  await chart("gpu").locator("canvas").waitFor();
  assert.deepEqual(await lines("gpu"), ["GPU"]);
});
