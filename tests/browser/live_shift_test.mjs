// A job that is watched from its first second: nothing that is on the screen moves when its node, samples, steps and verdicts come.

import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutShift, openPage } from "./support/chromium.mjs";
import { browser, service, useService } from "./support/mock_page.mjs";
import { rule, sampleDiagnosis, sampleJob } from "./support/sample_jobs.mjs";

const kRules = ["DataloaderBottleneck", "CPUBottleneck", "LowGPUUtilization", "OverallSystemUsage", "StepOutlier", "Straggler", "ProfilerReport"];
const startedUs = Date.now() * 1000 - 5e6;

const running = (more) => sampleJob({ name: "young", startedUs, status: "InProgress", seconds: 5, gpus: 1, ...more });
/** What comes, one after the other, to a job that was only just made. */
const kComes = [
  () => running({ nodes: 0, gpus: 0, silent: true, steps: false, diagnosis: null, ranks: 0, rules: kRules.map((name) => rule(name, "unknown")) }),
  () => running({ silent: true, steps: false, diagnosis: null, ranks: 0, rules: kRules.map((name) => rule(name, "unknown")) }),
  () => running({ seconds: 8, steps: false, diagnosis: null, ranks: 0, rules: kRules.map((name) => rule(name, "unknown")) }),
  () => running({ seconds: 12, diagnosis: null, rules: kRules.map((name) => rule(name, "open")) }),
  () => running({ seconds: 20, diagnosis: sampleDiagnosis, rules: kRules.map((name, i) => rule(name, i % 6 === 3 ? "finding" : "clear")) }),
  () => running({ seconds: 30, diagnosis: sampleDiagnosis, rules: kRules.map((name, i) => rule(name, i > 2 ? "finding" : "clear")) }),
  () => running({ seconds: 32, status: "Failed", diagnosis: sampleDiagnosis, rules: kRules.map((name, i) => rule(name, i > 2 ? "finding" : "clear")), failure: { node: "host-1", exit_code: 1, signal: null, output: ["RuntimeError: loss is nan"] } }),
];

useService(() => service.reset([kComes[0]()]));

const kParts = ["", "/system", "/steps", "/rules"];

for (const [width, height] of [[1280, 900], [390, 844]]) {
  test(`a job from its first second until it fails, at ${width} pixels: nothing moves`, async () => {
    const pages = await Promise.all(kParts.map(() => openPage(browser, { width, height })));
    await Promise.all(pages.map(async (page, i) => {
      await page.goto(`${service.url}/jobs/young${kParts[i]}`);
      await page.getByRole("heading", { name: "young" }).waitFor();
    }));
    await pages[0].waitForTimeout(1500); // what is loaded late
    for (const next of kComes.slice(1)) {
      service.jobs = [next()];
      const asked = (page) => page.waitForResponse((answer) => /\/jobs\/young(\?|"|$)/.test(answer.request().postData() ?? answer.url()), { timeout: 20_000 });
      await Promise.all(pages.map(asked));
      await pages[0].waitForTimeout(2500); // the answers about samples and steps
    }
    const shifts = await Promise.all(pages.map(layoutShift));
    assert.equal(await pages[0].locator(".failure").count(), 0, "it would push down what is read");
    await pages[0].getByRole("link", { name: "Why it failed" }).click();
    await pages[0].getByText("RuntimeError: loss is nan").waitFor();
    const first = () => pages[3].locator(".rules h3").first().textContent();
    assert.equal(await first(), "DataloaderBottleneck", "in the order of when the page was opened");
    await pages[3].getByRole("button", { name: /rules changed: sort again/ }).click();
    assert.equal(await first(), "OverallSystemUsage", "what found something comes first");
    for (const [i, page] of pages.entries()) {
      assert.ok(shifts[i] <= 0.01, `layout shift of ${kParts[i] || "the overview"}: ${shifts[i]}`);
      await page.context().close();
    }
  });
}
