import assert from "node:assert/strict";
import { test } from "node:test";
import { axeViolations, sidewaysScroll } from "./support/chromium.mjs";
import { page, service, usePage } from "./support/mock_page.mjs";
import { sampleJob } from "./support/sample_jobs.mjs";

const kStart = Math.floor(Date.now() / 1000 - 7200) * 1e6;
const run = (name, hour, more = {}) => sampleJob({ name, startedUs: kStart + hour * 3600e6, seconds: 120, group: "resnet", gpus: 2, ...more });

usePage(() => service.reset([run("resnet-slow", 0), run("resnet-quick", 1), run("other", 0.5, { group: "" })]));

test("two jobs: the sentence with its certainty first, then what differs, as text", async () => {
  await page.goto(`${service.url}/compare?a=resnet-slow&b=resnet-quick`);
  await page.getByRole("heading", { name: "The steps of resnet-quick take 50 % less time than those of resnet-slow, 2.0 times as fast." }).waitFor();
  assert.match(await page.locator(".diagnosis").textContent(), /With 95 % confidence between 48 % and 52 % less time a step; parts of one run differ by 1\.5 %\. That matters\./);
  assert.match(await page.getByRole("region", { name: "Phases of a step, A and B" }).textContent(), /data30\.0 ms10\.0 ms▼ 67 % lessbackward5\.00 ms5\.00 msthe same/);
  assert.match(await page.getByRole("region", { name: "What else differs, A and B" }).textContent(), /rank: <b>workers<\/b>48node: driver–550/);
  assert.deepEqual(await axeViolations(page), []);
  await page.getByRole("button", { name: "Turn around" }).click();
  await page.waitForURL(/a=resnet-quick&b=resnet-slow/);
  await page.getByRole("heading", { name: /^The steps of resnet-slow/ }).waitFor();
});

test("both runs lie over each other in charts that say in words what they show, with money where a price is set", async () => {
  service.jobs[1].price = 2;
  await page.goto(`${service.url}/compare?a=resnet-slow&b=resnet-quick`);
  await page.locator("#overlay-step-time-text").waitFor();
  assert.equal(await page.locator("#overlay-step-time-text").textContent(), "Means of adjacent steps: A 40.0 ms to 48.0 ms, B 20.0 ms to 24.0 ms.");
  assert.equal(await page.locator("#overlay-gpu-text").textContent(), "Parts of a run: GPU use: A 40 % to 63 %, B 40 % to 63 %.");
  assert.equal(await page.locator("path.overlay-b").count(), 5);
  assert.match(await page.locator("section", { has: page.locator("#overlay-gpu") }).locator("path.overlay-a").getAttribute("d"), /^M0\.0 [^M]+M250\.0 /, "a gap stays a gap");
  assert.match(await page.getByRole("region", { name: "In numbers, A and B" }).textContent(), /Price of a GPU hour–2\.00only in BCost–12\.5only in BCost of 1,000 steps–0\.04/);
  assert.equal(await page.getByRole("link", { name: "CSV" }).getAttribute("href"), "/api/v1/compare?a=resnet-slow&b=resnet-quick&format=csv");
  assert.equal(service.calls(/\/api\/v1\/compare/).length, 1);
});

test("what lies over what is chosen, and kept in the link", async () => {
  await page.goto(`${service.url}/compare?a=resnet-slow&b=resnet-quick`);
  const chart = page.locator("section", { has: page.locator("#overlay-step-time") });
  await chart.getByText("step 0").waitFor();
  await page.getByRole("combobox", { name: "Align by" }).selectOption("time since the job began");
  await page.waitForURL(/a=resnet-slow&b=resnet-quick&align=time$/);
  await chart.getByText("start of the job").waitFor();
  assert.match(await chart.locator("path.overlay-b").getAttribute("d"), /H5\d\d\.\d$/, "it took half the time");
  await page.reload();
  await chart.getByText("start of the job").waitFor();
  assert.equal(await page.getByRole("combobox", { name: "Align by" }).inputValue(), "time");
  await page.getByRole("combobox", { name: "Align by" }).selectOption("step number");
  await page.waitForURL(/b=resnet-quick$/);
  assert.equal(service.calls(/\/api\/v1\/compare/).length, 2);
});

test("from a job's page the run before of its group is found", async () => {
  await page.goto(`${service.url}/jobs/resnet-quick`);
  await page.locator(".job-facts").getByRole("link", { name: "Compare" }).click();
  await page.waitForURL(/\/compare\?a=resnet-slow&b=resnet-quick$/);
  await page.getByRole("heading", { name: /50 % less time/ }).waitFor();
  await page.goto(`${service.url}/compare?b=resnet-slow`);
  await page.getByText("resnet-slow is the first run of the group resnet: choose a job.").waitFor();
  await page.goto(`${service.url}/compare?b=other`);
  await page.getByText("other belongs to no group").waitFor();
  assert.equal(service.calls(/\/compare\?/).filter((url) => url.startsWith("/api")).length, 1);
});

test("two jobs that are ticked in the list are compared, the older click first; a third takes the place of the first", async () => {
  await page.goto(`${service.url}/jobs`);
  await page.getByRole("checkbox", { name: "Compare other" }).check();
  await page.getByText("Tick a second job to compare it with other").waitFor();
  await page.getByRole("checkbox", { name: "Compare resnet-slow" }).check();
  await page.getByRole("checkbox", { name: "Compare resnet-quick" }).press("Space");
  assert.deepEqual(await axeViolations(page), []);
  await page.getByRole("link", { name: "Compare resnet-slow with resnet-quick" }).click();
  await page.waitForURL(/\/compare\?a=resnet-slow&b=resnet-quick$/);
  await page.getByRole("heading", { name: /50 % less time/ }).waitFor();
});

test("no difference and too little data are said as such", async () => {
  service.jobs[1].change = { verdict: "no clear difference", material: false, percent: 1.2, low_percent: -2, high_percent: 4.4, noise_percent: 5 };
  await page.goto(`${service.url}/compare?a=resnet-slow&b=resnet-quick`);
  await page.getByRole("heading", { name: "No clear difference between the step times of resnet-slow and resnet-quick." }).waitFor();
  assert.match(await page.locator(".compare-even").textContent(), /between 2\.0 % less and 4\.4 % more time a step; parts of one run differ by 5\.0 %\.$/);
  service.jobs[1].change = { verdict: "not enough data", material: false, percent: null, low_percent: null, high_percent: null, noise_percent: null };
  await page.reload();
  await page.getByRole("heading", { name: /^Not enough data/ }).waitFor();
});

test("by keyboard: jobs are named in the fields; one that is not there is said", async () => {
  page.expected.push(/status of 404/);
  await page.goto(`${service.url}/jobs`);
  await page.locator(".job-link").first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await page.getByRole("heading", { name: "Choose two jobs" }).waitFor();
  await page.getByLabel("A", { exact: true }).fill("resnet-slow");
  await page.keyboard.press("Tab");
  await page.waitForURL(/a=resnet-slow/);
  await page.getByLabel("B", { exact: true }).fill("gone");
  await page.keyboard.press("Enter");
  await page.getByText(/there is no job gone/).waitFor();
  assert.ok((await sidewaysScroll(page)) <= 0);
});
