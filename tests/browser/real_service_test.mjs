// The page on the real service: STEPSCOPE_URL=http://127.0.0.1:8080 npm test. The service must have a
// job with samples; STEPSCOPE_JOB names it, else the newest one is opened.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertClean, axeViolations, launch, openPage, pixelsNear } from "./support/chromium.mjs";

const kUrl = process.env.STEPSCOPE_URL;
const kName = process.env.STEPSCOPE_JOB;

test("the real service serves the list and the charts of a job", { skip: kUrl ? false : "STEPSCOPE_URL is not set" }, async () => {
  const browser = await launch();
  try {
    const page = await openPage(browser);
    const reply = await page.goto(`${kUrl}/jobs`);
    assert.match(reply.headers()["content-security-policy"], /trusted-types stepscope/);
    const link = kName ? page.getByRole("link", { name: kName, exact: true }) : page.locator(".job-link").first();
    await link.waitFor();
    assert.equal(await page.locator("#token, .account").count(), 0, "nobody has to sign in");
    assert.deepEqual(await axeViolations(page), []);
    await link.click();
    await page.locator("#chart-cpu").waitFor();
    await page.locator("[aria-labelledby=chart-cpu] canvas").waitFor();
    await page.waitForFunction(() => performance.getEntriesByName("chart").length > 0);
    assert.ok((await pixelsNear(page, "cpu", "#0b5cad")) > 20, "the CPU line is drawn");
    assert.deepEqual(await axeViolations(page), []);
    await page.goto(`${new URL(page.url()).origin}${new URL(page.url()).pathname}/rules`);
    await page.locator(".rule").first().waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await assertClean(page);
  } finally {
    await browser.close();
  }
});
