// The page of a job that is training. tests/e2e/torch_test.py starts it: STEPSCOPE_URL and STEPSCOPE_JOB.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertClean, launch, openPage } from "./support/chromium.mjs";

const { STEPSCOPE_URL: kUrl, STEPSCOPE_JOB: kJob } = process.env;
const kSkip = kUrl && kJob ? false : "STEPSCOPE_URL and STEPSCOPE_JOB are not set";
let browser;

before(async () => {
  if (!kSkip) browser = await launch();
});
after(() => browser?.close());

/** The number of steps in the histogram of step times. */
const moreThan = (before) => {
  const card = document.querySelector("#chart-histogram")?.closest(".chart");
  const found = /% of ([^a-z]+) steps/.exec(card?.textContent ?? "");
  const count = found === null ? 0 : Number(found[1].replace(/\D/g, ""));
  return count > before && count;
};

test("steps and phases of a training that runs are shown, and more of them without a reload", { skip: kSkip }, async () => {
  const page = await openPage(browser);
  await page.goto(`${kUrl}/jobs/${kJob}/steps`);
  await page.locator("#chart-phases").waitFor();
  const labels = await page.locator(".chart", { has: page.locator("#chart-phases") }).locator(".legend-label").allTextContents();
  for (const phase of ["Data", "Forward", "Loss", "Backward", "Optimizer"]) assert.ok(labels.includes(phase), `${phase} in ${labels}`);
  const shown = await (await page.waitForFunction(moreThan, 0)).jsonValue();
  await page.waitForFunction(moreThan, shown);
  assert.match(await page.locator(".job-title .status").first().textContent(), /InProgress/);
  await assertClean(page);
});
