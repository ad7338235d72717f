import assert from "node:assert/strict";
import { test } from "node:test";
import { assertClean, openPage } from "./support/chromium.mjs";
import { browser, page, service, usePage } from "./support/mock_page.mjs";
import { kHolders } from "./support/sample_fleet.mjs";

usePage(() => {
  service.reset();
  service.holders = kHolders;
});

const calls = () => service.calls(/^\/api\/v1\/fleet/);
const last = () => new URL(calls().at(-1), service.url).searchParams;

test("the fleet in one sentence, then what it was lost to, by whom, and how the weeks went", async () => {
  await page.goto(`${service.url}/fleet`);
  await page.getByRole("heading", { name: "Of 425 h of GPUs 66 % were busy and 24 % lost, most of it to preprocessing." }).waitFor();
  assert.match(await page.locator(".diagnosis").textContent(), /11 % of the hours are not judged/);
  assert.equal(await page.locator(".fleet-bar").getAttribute("aria-label"), "busy 66 %, preprocessing 14 %, communication 5.9 %, lost, cause unknown 3.5 %, not judged 11 %");
  const rows = page.getByRole("region", { name: "Hours by User" });
  assert.match(await rows.textContent(), /ann80\.0 h120 h27 %10\.0 h160preprocessing, 48\.0 h31/);
  assert.match(await rows.textContent(), /not known0 s5\.00 h–5\.00 h––1/);
  await page.getByText("the 3 that lost most of 10").waitFor();
  assert.match(await page.locator("#fleet-trend").textContent(), /^Lost of the judged hours: 26 % in the week until/);
  assert.equal(calls().length, 1);
});

test("a row leads to its jobs, the link keeps the view, and a chip leads back", async () => {
  await page.goto(`${service.url}/fleet?after=now-30d`);
  await page.getByRole("link", { name: "ann", exact: true }).click();
  await page.waitForURL(/\/fleet\?after=now-30d&by=job&user=ann$/);
  await page.getByRole("link", { name: "job-of-ann" }).waitFor();
  assert.deepEqual([last().get("by"), last().get("user")], ["job", "ann"]);
  assert.equal(Date.parse(last().get("from")) % 60_000, 0);
  assert.match(await page.getByRole("link", { name: "CSV" }).getAttribute("href"), /^\/api\/v1\/fleet\?user=ann&by=job&from=.*&format=csv$/);
  await page.reload();
  await page.getByRole("link", { name: "job-of-ann" }).waitFor();
  await page.getByRole("button", { name: /^User ann/ }).click();
  await page.waitForURL(/\/fleet\?after=now-30d&by=job$/);
});

test("points, strips over time and idle GPUs say in words what they show", async () => {
  await page.goto(`${service.url}/fleet?node=node-1&cause=preprocessing`);
  await page.locator("#fleet-spread").waitFor();
  assert.equal(await page.locator("#fleet-spread-text").textContent(), "1 of 2 lost more than half of their judged hours. 1 without judged hours is left out.");
  assert.equal(await page.locator(".fleet-point").count(), 2);
  assert.match(await page.locator(".fleet-grid svg").first().getAttribute("aria-label"), /^ann: most lost in the 6\.00 h from 20\d\d-\d\d-\d\d \d\d:\d\d UTC, \d+ % of the judged hours$/);
  assert.match(await page.locator(".fleet-grid svg").nth(2).getAttribute("aria-label"), /^not known: not judged$/);
  const idle = page.locator("section", { has: page.locator("#fleet-idle") });
  assert.match(await idle.textContent(), /10 GPUs of 1 running job were held and never used\. 2 running jobs are not judged yet\./);
  assert.match(await idle.textContent(), /10 of 16 GPUs annnode-1 gpu0 for 10 m 00 s, .* and 2 more/);
  assert.match(await page.locator(".page-head").textContent(), /as of 12:34:56 UTC/);
  assert.deepEqual([last().get("node"), last().get("cause")], ["node-1", "preprocessing"]);
  await page.getByRole("button", { name: /^Node node-1/ }).click();
  await page.waitForURL(/\/fleet\?cause=preprocessing$/);
  await page.locator(".fleet-point").first().click();
  await page.waitForURL(/\/fleet\?by=job&user=ann&cause=preprocessing$/);
});

test("a cause of the bar leads to the jobs that lost most to it, and rows by cause say it in words", async () => {
  await page.goto(`${service.url}/fleet`);
  await page.locator(".fleet-legend").first().getByRole("link", { name: "preprocessing" }).click();
  await page.waitForURL(/\/fleet\?by=job&cause=preprocessing$/);
  await page.goto(`${service.url}/fleet?by=cause`);
  await page.getByRole("region", { name: "Hours by Cause" }).waitFor();
  assert.match(await page.getByRole("region", { name: "Hours by Cause" }).textContent(), /nothing lost, or not judged/);
});

test("by keyboard: another time and another order", async () => {
  await page.goto(`${service.url}/jobs`);
  await page.locator(".empty").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("f");
  await page.locator("#fleet-title").waitFor();
  await page.getByRole("link", { name: "Held" }).press("Enter");
  await page.waitForURL(/sort=held/);
  assert.match(await page.locator("tbody tr").first().textContent(), /^the-service-account/);
  await page.locator(".filters select").first().selectOption("now-24h");
  await page.waitForURL(/after=now-24h/);
});

test("a week's own link, as the weekly message has it, names its days", async () => {
  await page.goto(`${service.url}/fleet?after=2026-11-16T00:00:00.000000Z&before=2026-11-23T00:00:00.000000Z`);
  await page.locator("#fleet-title").waitFor();
  assert.equal(await page.locator(".filters select").first().locator("option:checked").textContent(), "2026-11-16 to 2026-11-23");
  assert.deepEqual([last().get("from"), last().get("to")], ["2026-11-16T00:00:00.000Z", "2026-11-23T00:00:00.000Z"]);
});

test("every time of the fleet is in the zone that was chosen", async () => {
  await page.goto(`${service.url}/fleet`);
  const there = await openPage(browser, { timezoneId: "Asia/Tokyo" });
  await there.goto(`${service.url}/fleet?after=2026-11-20&before=2026-11-26`);
  const texts = async () => [
    await there.locator(".fleet-grid svg").first().getAttribute("aria-label"),
    await there.locator(".fleet-grid title").first().textContent(),
    ...(await there.locator(".fleet-grid .fleet-name").last().locator("xpath=..").locator("span").allTextContents()),
    await there.locator(".fleet-weeks svg text").last().textContent(),
  ];
  await there.locator(".fleet-grid").waitFor();
  const utc = await texts();
  assert.match(utc[0], / 20\d\d-\d\d-\d\d (00|06|12|18):00 UTC,/);
  assert.deepEqual([utc[2], utc[4], utc.at(-1)], ["UTC", "11-20 00:00", "2026-11-27"]);
  await there.getByLabel("Times").selectOption("local");
  await there.getByText("local", { exact: true }).waitFor();
  const local = await texts();
  assert.match(local[0], / 20\d\d-\d\d-\d\d (09|15|21|03):00 local,/);
  assert.match(local[1], /, 11-\d\d (09|15|21|03):00: /);
  assert.equal(local[4], "11-20 09:00");
  await assertClean(there);
  await there.context().close();
});

test("Back leads to the row of the fleet that was left", async () => {
  await page.setViewportSize({ width: 1280, height: 500 });
  await page.goto(`${service.url}/fleet?by=job&user=ann`);
  page.expected.push(/status of 404/); // jobs of the fleet have no page here
  const link = page.locator(".fleet-losses").last().getByRole("link").last();
  await link.scrollIntoViewIfNeeded();
  await link.focus();
  const spot = () => page.evaluate(() => [Math.round(scrollY), document.activeElement.getAttribute("href")]);
  const left = await spot();
  assert.ok(left[0] > 200);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/jobs\//);
  await page.goBack();
  await page.waitForFunction(([y, href]) => Math.abs(scrollY - y) < 2 && document.activeElement.getAttribute("href") === href, left);
});
