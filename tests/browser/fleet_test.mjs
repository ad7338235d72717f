import assert from "node:assert/strict";
import { test } from "node:test";
import { page, service, usePage } from "./support/mock_page.mjs";
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
