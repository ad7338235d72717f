import assert from "node:assert/strict";
import { test } from "node:test";
import { page, service, usePage } from "./support/mock_page.mjs";
import { sampleJob } from "./support/sample_jobs.mjs";

// The parts of a job's page: their addresses and keys, the heat map, the times in which rules fired, the report.

const kStart = Math.floor(Date.now() / 1000 - 3600) * 1e6;

usePage(() => service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 120 })]));

async function open(query = "") {
  await page.goto(`${service.url}/jobs/mlp-demo${query}`);
  await page.locator("#chart-cpu").waitFor();
}
async function openRules() {
  await page.goto(`${service.url}/jobs/mlp-demo/rules`);
  await page.locator(".rule").first().waitFor();
}

test("the parts of the page have addresses of their own, keys, and keep the view", async () => {
  await open("?from=20000&to=40000");
  for (const [key, tab] of [["2", "system"], ["4", "steps"], ["5", "rules"], ["3", "heatmap"], ["6", "report"], ["1", ""]]) {
    await page.keyboard.press(key);
    await page.waitForURL(`${service.url}/jobs/mlp-demo${tab && `/${tab}`}?from=20000&to=40000`);
    await page.locator(".tabs [aria-current=page]").waitFor();
  }
  await page.goBack();
  await page.waitForURL(/report/);
  await page.goto(`${service.url}/jobs/mlp-demo/steps?from=20000&to=40000`);
  assert.match(await page.locator(".toolbar-span").textContent(), /^20 s to 40 s$/);
  await page.goto(`${service.url}/jobs/mlp-demo/nothing`);
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
});

test("zoomed far enough, single steps are drawn in place of means", async () => {
  await page.goto(`${service.url}/jobs/mlp-demo/steps`);
  const note = page.locator(".chart", { has: page.locator("#chart-steps") }).locator(".chart-note");
  await page.getByText("mean of 20 steps a point").waitFor();
  assert.equal(service.calls(/format=rows/).length, 0);
  await page.goto(`${service.url}/jobs/mlp-demo/steps?from=20000&to=40000`);
  await page.getByText(/^rank 0 on host-1$/).waitFor();
  assert.match(await page.locator("#chart-steps-summary").textContent(), /^Whole step: mean 5\d\.\d ms, highest 80\.0 ms at/);
  assert.equal(service.calls(/steps\?rank=0&from_us=\d+&to_us=\d+&limit=2000&format=rows/).length, 1);
  assert.equal(await note.count(), 1);
});

test("rules say when they fired, and lead to that time", async () => {
  await openRules();
  const row = page.locator(".rule").first();
  assert.match(await row.locator(".firings").getAttribute("aria-label"), /^2 times it fired, 48\.0 s in all$/);
  await row.getByText("2 times it fired").click();
  await row.getByRole("link", { name: "12 s to 36 s" }).click();
  await page.waitForURL(/\/steps\?from=9600&to=38400&rank=0$/);
  await page.locator("#chart-phases").waitFor();
});

test("the heat map has a row for each GPU, its scale does not stretch, and cells are walked with keys", async () => {
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, nodes: 2, gpus: 8 })]);
  await page.goto(`${service.url}/jobs/mlp-demo/heatmap`);
  const map = page.getByRole("slider", { name: "Heat map of 8 rows" });
  await map.waitFor();
  assert.match(await page.locator(".heat-scale").textContent(), /^0 %100 %hatched: nothing measured$/);
  assert.match(await page.locator(".heat .summary").textContent(), /^8 rows: mean 7\.8 %, lowest mean host-1 0 0 %, highest mean host-2 3 16 %\.$/);
  await map.focus();
  await page.keyboard.press("End");
  assert.match(await map.getAttribute("aria-valuetext"), /^host-1 0, 2:00: nothing measured$|^host-1 0, 1:5\d: nothing measured$/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowLeft");
  assert.match(await map.getAttribute("aria-valuetext"), /^host-1 1, 1:5\d: 5\.0 %$/);
  await page.getByLabel(/^Order/).selectOption("mean");
  await page.waitForURL(/order=mean/);
  await page.getByLabel(/^Node/).selectOption("host-2");
  await page.getByRole("slider", { name: "Heat map of 4 rows" }).waitFor();
  assert.equal(service.calls(/heatmap\?metric=gpu_util_percent&columns=300&rows=2000&node=host-2/).length, 1);
});

test("a chart of one mean names the devices at its ends and leads to all of them", async () => {
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 120, nodes: 2, gpus: 8 })]);
  await open();
  const legend = page.locator(".chart", { has: page.locator("#chart-gpu") }).locator(".legend");
  assert.match(await legend.textContent(), /^Mean of 8 GPUs mean \d+ %lowest mean host-1 0: 4\d %, highest host-\d \d: 7\d %All 8 GPUs$/);
  await legend.getByRole("link", { name: "All 8 GPUs" }).click();
  await page.waitForURL(/\/heatmap\?metric=gpu_util_percent&order=mean$/);
});

test("of devices that the service folds the worst is named, of a span the worst in it, with one request", async () => {
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 120, nodes: 64, gpus: 512, ranks: 512 })]);
  const legend = (id) => page.locator(".chart", { has: page.locator(`#chart-${id}`) }).locator(".legend");
  await open("?from=20000&to=40000");
  await legend("gpu").getByText("lowest mean host-1 0: 0 %").waitFor();
  await legend("memory").getByText("highest mean host-64: 32 %").waitFor();
  const asked = service.calls(/heatmap/);
  assert.deepEqual(asked.map((url) => new URL(url, service.url).searchParams.get("metric")), ["gpu_util_percent", "node_cpu_percent", "memory_used_percent"]);
  assert.ok(asked.every((url) => url.includes(`from_us=${kStart + 20e6}&to_us=${kStart + 40e6}`)), `${asked}`);
  assert.equal(service.sent.filter((url) => url.includes("heatmap")).length, 0, "in a batch");
  await page.keyboard.press("0");
  await page.waitForFunction(() => !window.location.search.includes("from"));
  await legend("gpu").getByText("lowest mean host-1 0: 0 %").waitFor();
  assert.equal(service.calls(/heatmap\?metric=gpu_util_percent&columns=60&rows=2000$/).length, 1);
});

test("a heat map of more rows than the service sends shows one node at a time", async () => {
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, nodes: 64, gpus: 512 })]);
  service.change = (url, body) => (url.pathname.endsWith("/jobs/mlp-demo") ? { ...body, nodes: body.nodes.map((node) => ({ ...node, cores: 192 })) } : body);
  await page.goto(`${service.url}/jobs/mlp-demo/heatmap`);
  await page.getByRole("slider", { name: "Heat map of 512 rows" }).waitFor();
  await page.getByLabel(/^Metric/).selectOption("cpu_util_percent");
  await page.getByText("One node at a time").waitFor();
  assert.equal(service.calls(/heatmap\?metric=cpu_util_percent&columns=300&rows=2000&node=host-1/).length, 1);
});

test("the report has its numbers on the page, and is one file to keep", async () => {
  await page.goto(`${service.url}/jobs/mlp-demo/report`);
  await page.getByRole("region", { name: "Time of its parts" }).waitFor();
  assert.match(await page.getByRole("region", { name: "Time of its parts" }).textContent(), /Initialisation12\.0 s10 %Training1 m 42 s85 %Finalisation6\.00 s5\.0 %All2 m 00 s/);
  assert.match(await page.locator("main").textContent(), /lost: 0 pushes of agents, 0 that were refused, 2 marks/);
  assert.match(await page.getByRole("region", { name: "Verdicts of the rules" }).textContent(), /DataloaderBottleneckIssuesFound7.*LowGPUUtilizationnot judged0/s);
  assert.equal(await page.getByRole("link", { name: "Save it", exact: true }).getAttribute("href"), "/api/v1/jobs/mlp-demo/report.html");
});
