// The form of a rule: its parameters, the preview of other values, and the change.

import assert from "node:assert/strict";
import { test } from "node:test";
import { axeViolations, sidewaysScroll } from "./support/chromium.mjs";
import { page, service, usePage } from "./support/mock_page.mjs";
import { rule, sampleJob } from "./support/sample_jobs.mjs";

const kStart = Math.floor(Date.now() / 1000 - 3600) * 1e6;
const kJob = { name: "mlp-demo", startedUs: kStart, seconds: 120, status: "InProgress" };

usePage(() => service.reset([sampleJob(kJob)]));

const dialog = () => page.getByRole("dialog");
const field = (name) => dialog().getByRole("textbox", { name });
const would = () => dialog().locator(".tune-preview");
const way = (name) => dialog().getByRole("button", { name });
const noteOf = (name) => page.locator(".rule").filter({ hasText: name }).locator(".rule-notes").first().textContent();

async function ask(name = "DataloaderBottleneck", folded = false) {
  await page.goto(`${service.url}/jobs/mlp-demo/rules`);
  if (folded) await page.locator(".rules > details > summary").click();
  await page.getByRole("button", { name: `Parameters of ${name}` }).click();
  await way("Would it have fired?").waitFor();
}

test("each parameter has its value, unit, range and default", async () => {
  await ask();
  assert.equal(await field("threshold (%)").inputValue(), "20");
  assert.equal(await field("min_steps (steps)").inputValue(), "20");
  assert.match(await dialog().textContent(), /counts as a bottleneck\. 0 to 100 %, default 20 %\..*1 to 10\u202f000 steps, default 20 steps\./);
  assert.deepEqual(await axeViolations(page), []);
});

test("by keyboard: other values are tried, then applied, and the page asks again", async () => {
  await ask();
  await field("threshold (%)").fill("70");
  await page.keyboard.press("Enter");
  await would().getByText("It would not have fired; with its parameters of now it did.").waitFor();
  assert.match(await would().textContent(), /threshold 70 %\)\.Judged: all that is stored: 812 ticks and steps\.$/);
  assert.deepEqual(await axeViolations(page), []);
  assert.deepEqual(service.changes, [], "a preview changes nothing");
  await field("threshold (%)").fill("30");
  assert.equal(await would().textContent(), "", "what was said was of other values");
  await page.keyboard.press("Enter");
  await would().getByText("2 findings, in 62 % of the judged time.").waitFor();
  const again = page.waitForRequest((request) => request.method() === "GET" && /jobs\/mlp-demo$/.test(request.url()));
  await way("Apply").focus();
  await page.keyboard.press("Enter");
  await would().getByText("Changed. The rule is judged anew").waitFor();
  await again;
  assert.deepEqual(service.changes, [{ name: "DataloaderBottleneck", parameters: { threshold: 30, min_steps: 20 } }]);
  assert.equal(await way("Apply").isDisabled(), true, "it stands so already");
  await page.keyboard.press("Escape");
  await dialog().waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Parameters of DataloaderBottleneck");
});

test("nothing is the default again, and a time stands for samples", async () => {
  await ask("LowGPUUtilization", true);
  await field("threshold_p95").fill("");
  await field("window").fill(" 120s ");
  await way("Apply").click();
  await would().getByText("Changed.").waitFor();
  assert.deepEqual(service.changes, [{ name: "LowGPUUtilization", parameters: { threshold_p95: null, window: "120s" } }]);
  await way("Defaults").click();
  assert.equal(await field("window").inputValue(), "500");
});

test("what the service refuses stands at its field", async () => {
  page.expected.push(/status of 400/);
  await ask();
  await field("threshold (%)").fill("101");
  await page.keyboard.press("Enter");
  const refused = dialog().locator("#tune-threshold-refused");
  await refused.getByText("threshold is 101, but must be a number from 0 to 100 %.", { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), "tune-threshold");
  assert.equal(await field("threshold (%)").getAttribute("aria-invalid"), "true");
  assert.deepEqual(await axeViolations(page), []);
  await field("threshold (%)").fill("many");
  assert.equal(await refused.textContent(), "");
  await way("Apply").click();
  await refused.getByText('threshold is "many"').waitFor();
  assert.deepEqual(service.changes, []);
});

test("a service that is busy says so, and can be asked again", async () => {
  page.expected.push(/status of 429/);
  await ask();
  service.fail(/preview$/, { status: 429, times: 1, words: ["Too many requests", "4 previews of rules are under way, and no more at once; try again"] });
  await way("Would it have fired?").click();
  await dialog().getByRole("alert").getByText("4 previews of rules are under way").waitFor();
  await way("Would it have fired?").click();
  await would().getByText("It would have fired too").waitFor();
});

test("parameters that cannot be loaded say why", async () => {
  page.expected.push(/status of 503/);
  await page.goto(`${service.url}/jobs/mlp-demo/rules`);
  await page.locator(".rule-notes").first().waitFor();
  await page.waitForLoadState("networkidle"); // the page asks for the catalog, too
  service.fail(/v1\/rules$/, { status: 503 });
  await page.getByRole("button", { name: "Parameters of CPUBottleneck" }).click();
  await dialog().getByText("They could not be loaded. The database is away").waitFor();
  await way("Close").click();
  await dialog().waitFor({ state: "detached" });
});

test("of a job that has ended rules are only tried, and fired to the end", async () => {
  service.jobs = [sampleJob({ ...kJob, status: "Completed", rules: [rule("DataloaderBottleneck", "finding"), rule("CPUBottleneck", "finding", { active: false })] })];
  await ask();
  assert.equal(await way("Apply").count(), 0);
  assert.match(await dialog().textContent(), /The job has ended: its rules are not changed any more/);
  await way("Would it have fired?").click();
  await would().getByText("It would have fired too").waitFor();
  await page.keyboard.press("Escape");
  assert.match(await noteOf("DataloaderBottleneck"), /· to the end$/);
  assert.match(await noteOf("CPUBottleneck"), /· no longer active$/);
});

test("of a job that runs a rule is still active", async () => {
  await page.goto(`${service.url}/jobs/mlp-demo/rules`);
  await page.locator(".rule").first().waitFor();
  assert.match(await noteOf("DataloaderBottleneck"), /· still active$/);
});

test("a reader may try, not change", async () => {
  page.expected.push(/status of 401/);
  service.access.demand({ st_one: { name: "anna", role: "reader" } });
  await page.goto(`${service.url}/jobs/mlp-demo/rules`);
  await page.locator("#token").fill("st_one");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Parameters of DataloaderBottleneck" }).click();
  await way("Would it have fired?").click();
  await would().getByText("It would have fired too").waitFor();
  assert.equal(await way("Apply").count(), 0);
  assert.match(await dialog().textContent(), /Your role may try other values, not change them\./);
});

for (const [width, theme] of [[390, "dark"], [1280, "light"]]) {
  test(`the form fits ${width} px, ${theme}`, async () => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: theme });
    await ask();
    await field("threshold (%)").fill("70");
    await page.keyboard.press("Enter");
    await would().getByText("It would not have fired").waitFor();
    const box = await dialog().boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= width && box.y >= 0 && box.y + box.height <= 800, JSON.stringify(box));
    assert.equal(await dialog().evaluate((each) => each.scrollWidth - each.clientWidth), 0);
    assert.equal(await sidewaysScroll(page), 0);
    assert.deepEqual(await axeViolations(page), []);
    if (process.env.STEPSCOPE_SHOTS) await page.screenshot({ path: `${process.env.STEPSCOPE_SHOTS}/tune-${width}.png` });
    await page.keyboard.press("Escape");
    await dialog().waitFor({ state: "detached" });
    assert.deepEqual(await axeViolations(page), []);
    if (process.env.STEPSCOPE_SHOTS) await page.screenshot({ path: `${process.env.STEPSCOPE_SHOTS}/job-${width}.png`, fullPage: true });
  });
}

const changes = () => dialog().locator(".rule-history li");

test("what happened to a rule is asked for when it is opened: when, to what, for how long, and why", async () => {
  const history = { DataloaderBottleneck: [
    [25.2, "IssuesFound", "waited 93 % of each step <b>"], [60, "InProgress", "its parameters changed"], [85, "NoIssuesFound", "not judged: 3 of 20 steps"],
  ] };
  service.jobs = [sampleJob({ ...kJob, history })];
  await ask();
  assert.equal(service.calls(/transitions/).length, 0);
  await dialog().getByText("What happened").click();
  await changes().first().waitFor();
  assert.deepEqual(await changes().allTextContents(), [
    "25.2 sIssuesFoundfor 34.8 swaited 93 % of each step <b>", "1:00.0InProgressfor 25.0 sits parameters changed", "1:25.0NoIssuesFoundnot judged: 3 of 20 steps",
  ]);
  assert.match(await changes().nth(2).locator(".status").getAttribute("class"), /tone-grey/, "not judged is never green");
  assert.deepEqual(await axeViolations(page), []);
  await page.setViewportSize({ width: 390, height: 800 });
  assert.ok((await sidewaysScroll(page)) <= 0);
});

test("a rule that nothing happened to says so, and so does a history that cannot be read", async () => {
  await ask();
  await dialog().getByText("What happened").click();
  await dialog().getByText("It has been in progress since the job was created.").waitFor();
  page.expected.push(/status of 500/);
  service.fail(/transitions/, { times: 1 });
  await dialog().getByText("What happened").click();
  await dialog().getByText("What happened").click();
  await dialog().getByText("It could not be loaded.").waitFor();
});
