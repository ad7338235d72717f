// Deleting a job, and the notice about samples that were removed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { axeViolations } from "./support/chromium.mjs";
import { page, service, usePage } from "./support/mock_page.mjs";
import { sampleJob } from "./support/sample_jobs.mjs";

const kStart = Math.floor(Date.now() / 1000 - 3600) * 1e6;
const kJob = { name: "mlp-demo", startedUs: kStart, seconds: 120 };

usePage(() => service.reset([sampleJob(kJob), sampleJob({ ...kJob, name: "other" })]));

const button = () => page.getByRole("button", { name: "Delete this job…" });
const dialog = () => page.getByRole("dialog");
const confirm = () => dialog().getByRole("button", { name: "Delete" });
async function ask() {
  await button().click();
  await page.locator("dialog input:focus").waitFor();
}
async function open(name = "mlp-demo", query = "") {
  await page.goto(`${service.url}/jobs/${name}${query}`);
  await page.getByRole("heading", { name: "What happened" }).waitFor();
}

test("a job is deleted once its name is typed, and the list follows without it", async () => {
  await open();
  await ask();
  assert.match(await dialog().textContent(), /Delete “mlp-demo”\?Its samples, steps, verdicts and findings are removed for good\.Type/);
  assert.deepEqual(await axeViolations(page), []);
  assert.equal(await confirm().isDisabled(), true);
  await page.keyboard.type("mlp-dem");
  await page.keyboard.press("Enter");
  assert.equal(await confirm().isDisabled(), true, "almost is not its name");
  await page.keyboard.type("o");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/jobs$/);
  await page.getByRole("link", { name: "other" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "mlp-demo" }).count(), 0);
});

test("keeping it is one key away", async () => {
  await open();
  await ask();
  await page.keyboard.type("mlp-demo");
  await page.keyboard.press("Escape");
  await dialog().waitFor({ state: "detached" });
  assert.equal(service.jobs.length, 2);
  await ask();
  assert.equal(await dialog().getByRole("textbox").inputValue(), "", "the name is wanted again");
  await dialog().getByRole("button", { name: "Keep it" }).click();
  await dialog().waitFor({ state: "detached" });
});

test("a job that runs says what is lost", async () => {
  service.jobs = [sampleJob({ ...kJob, status: "InProgress" })];
  await open();
  await ask();
  assert.match(await dialog().textContent(), /It still runs: what is measured from now on is lost\./);
});

test("a refusal stays open and says why", async () => {
  page.expected.push(/status of 503/);
  await open();
  await ask();
  await page.keyboard.type("mlp-demo");
  service.fail(/jobs\/mlp-demo$/, { status: 503, times: 1 });
  await confirm().click();
  await dialog().getByText("The job was not deleted. The database is away").waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await confirm().click();
  await page.waitForURL(/\/jobs$/);
});

for (const [role, may] of [["reader", 0], ["operator", 1]]) {
  test(`a ${role} ${may ? "finds" : "does not find"} the button`, async () => {
    page.expected.push(/status of 401/);
    service.access.demand({ st_one: { name: "anna", role } });
    await page.goto(`${service.url}/jobs/mlp-demo`);
    await page.locator("#token").fill("st_one");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "What happened" }).waitFor();
    if (may) await button().waitFor(); // it is fetched by itself
    assert.equal(await button().count(), may);
  });
}

test("samples that were removed are said where the charts begin before them", async () => {
  service.jobs = [sampleJob({ ...kJob, samplesFromUs: kStart + 60e6 })];
  const notice = page.getByText(/^Samples and steps before \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC were removed\. What is kept/);
  await open();
  await notice.waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await open("mlp-demo", "?from=70000&to=90000");
  assert.equal(await notice.count(), 0);
});

for (const width of [390, 1280]) {
  test(`the question fits ${width} px`, async () => {
    await page.setViewportSize({ width, height: 800 });
    service.jobs = [sampleJob({ ...kJob, name: "a-name-of-sixty-three-characters-which-is-the-most-that-one-may-b", samplesFromUs: kStart + 60e6, status: "InProgress" })];
    await open(service.jobs[0].name);
    await ask();
    const box = await dialog().boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= width && box.y + box.height <= 800, JSON.stringify(box));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${wide} px wide`);
  });
}
