import assert from "node:assert/strict";
import { test } from "node:test";
import { pixelsNear } from "./support/chromium.mjs";
import { page, service, usePage } from "./support/mock_page.mjs";
import { sampleJob } from "./support/sample_jobs.mjs";

const kStart = Math.floor(Date.now() / 1000 - 3600) * 1e6;
const made = (custom, more = {}) => sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 120, custom, ...more });

usePage(() => service.reset([made({ "user.loss": ["rank0", "rank1"], "user.lr": ["rank0"] })]));

async function open() {
  await page.goto(`${service.url}/jobs/mlp-demo/system`);
  await page.locator("#chart-cpu").waitFor();
}
const section = () => page.locator(".custom-metrics");
const chart = (name) => section().locator(".chart", { has: page.getByRole("heading", { name, exact: true }) });

/** The answer with the names of the job's own metrics, by itself or in a batch. */
const namesAnswer = (answer) => /fold=metric/.test(answer.url() + (answer.request().postData() ?? ""));

test("each metric of the user's own has a chart: its name, a line for each device, and y from its values", async () => {
  await open();
  await chart("loss").locator("canvas").waitFor();
  assert.deepEqual(await section().locator("h3").allTextContents(), ["loss", "lr"]);
  assert.deepEqual(await chart("loss").locator(".legend-label").allTextContents(), ["host-1 rank0", "host-1 rank1"]);
  assert.match(await chart("lr").locator(".summary").textContent(), /^host-1 rank0: mean (1\.99|2\.0\d), highest 2\.35 at /);
  for (const [colour, line] of [["#0b5cad", "rank0"], ["#b67a20", "rank1"]]) {
    const many = await pixelsNear(page, "user\\.loss", colour);
    assert.ok(many > 100, `${line} has its line`);
  }
  assert.equal(service.calls(/\/metrics\?metric=.*user\.loss%2Cuser\.lr/).length, 1, "their samples come with those of the other charts");
});

test("a job without them has no such section", async () => {
  service.jobs = [made({})];
  const names = page.waitForResponse(namesAnswer);
  await open();
  await (await names).finished();
  await page.locator("#chart-cpu").waitFor();
  await page.evaluate(() => new Promise(requestAnimationFrame));
  assert.equal(await section().count(), 0);
});

test("of very many the first have charts, the rest is named and leads to its samples", async () => {
  service.jobs = [made(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`user.m${10 + i}`, ["rank0"]])), { gpus: 1 })];
  await open();
  await section().locator("h3").nth(22).waitFor();
  assert.equal(await section().locator("h3").count(), 23);
  assert.match(await section().locator(".section-head").textContent(), /23 of 30 metrics/);
  await page.getByText("7 more metrics have no chart here").click();
  assert.deepEqual(await section().locator(".custom-metrics-uncharted a").allTextContents(), ["user.m33", "user.m34", "user.m35", "user.m36", "user.m37", "user.m38", "user.m39"]);
  assert.equal(await section().locator(".custom-metrics-uncharted a").first().getAttribute("href"), "/api/v1/jobs/mlp-demo/metrics?metric=user.m33");
  const [asked] = service.calls(/\/metrics\?metric=.*user\.m10/);
  assert.ok(new URL(asked, service.url).searchParams.get("metric").split(",").length <= 96, "no more than one call takes");
});

test("a metric that comes later gets its chart, and only what is new is looked through", async () => {
  service.jobs = [made({}, { status: "InProgress", startedUs: Date.now() * 1000 - 300e6, seconds: 300 })];
  await page.clock.install();
  const names = page.waitForResponse(namesAnswer);
  await open();
  await (await names).finished();
  Object.assign(service.jobs[0], { custom: { "user.loss": ["rank0"] }, seconds: 330 });
  await page.clock.runFor(31_000);
  await chart("loss").locator("canvas").waitFor();
  const lists = service.calls(/\/metrics\?fold=metric&points=1/);
  assert.equal(lists.length, 2);
  assert.equal(new URL(lists[1], service.url).searchParams.get("from_us"), String(service.jobs[0].startedUs + 240e6));
});

test("of a job with too many series for one answer its first node is asked", async () => {
  page.expected.push(/status of 400/);
  service.fail(/fold=metric&points=1&times=runs$/, { status: 400, words: ["Invalid query", "more than 20000 series"] });
  await open();
  await chart("loss").locator("canvas").waitFor();
  assert.equal(service.calls(/fold=metric&points=1&node=host-1&times=runs$/).length, 1);
});

test("when the list cannot be had the other charts are there, and a retry brings it", async () => {
  page.expected.push(/status of 500/);
  service.fail(/fold=metric&points=1/, { times: 2 }); // ahead of the page, and by it
  await open();
  await page.getByText("The list of the job’s own metrics could not be loaded.").waitFor();
  await page.locator("#chart-cpu").waitFor();
  await page.getByRole("button", { name: "Retry now" }).click();
  await chart("loss").locator("canvas").waitFor();
});
