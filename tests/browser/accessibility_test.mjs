import assert from "node:assert/strict";
import { test } from "node:test";
import { assertClean, axeViolations, layoutShift, openPage, sidewaysScroll } from "./support/chromium.mjs";
import { sampleChange, sampleToken } from "./support/mock_access.mjs";
import { browser, service, useService } from "./support/mock_page.mjs";
import { kHolders } from "./support/sample_fleet.mjs";
import { sampleJob } from "./support/sample_jobs.mjs";

const kStart = Date.now() * 1000 - 3600e6;

useService(() => service.reset(kJobs()));

const kJobs = () => [
  sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 120, group: "nightly", gap: [40, 60], custom: { "user.loss": ["rank0", "rank1"], [`user.${"long_".repeat(11)}name`]: ["rank0"] } }),
  sampleJob({ name: "bert-large-uncased-finetune-with-a-long-name-0000000000000007", startedUs: kStart, seconds: 30, status: "Failed", failure: { node: "host-1", exit_code: 1, signal: null, output: ["RuntimeError: loss is nan"] } }),
  sampleJob({ name: "albef-1000", startedUs: kStart, seconds: 3000, nodes: 2, gpus: 16 }),
];

const kTokens = () => {
  const now = Date.now() * 1000;
  return [
    sampleToken("k3Jd92Qa", { name: "anna", scopes: ["mlp-*", "bert-large-uncased-finetune-with-a-long-name-0000000000000007"] }),
    sampleToken("b7Xe01Lz", { name: "the-daemon-set-of-the-large-gpu-farm-in-the-second-hall-00000001", role: "agent", last_used_us: null, expires_us: now + 5 * 86_400e6 }),
    sampleToken("Zq8sT4mm", { name: "old", role: "operator", expires_us: now - 86_400e6 }),
    sampleToken("p0OiU7yt", { name: "gone", role: "admin", revoked_us: now - 86_400e6 }),
  ];
};

/** For each state of a page: a function that prepares the service, and the element that must be on screen before axe runs. */
const kStates = {
  list: {
    path: "/jobs",
    data: [() => {}, ".job-link"],
    empty: [() => (service.jobs = []), ".empty"],
    error: [() => service.fail(/\/api\/v1\/jobs/), ".notice"],
  },
  job: {
    path: "/jobs/mlp-demo",
    data: [() => {}, ".plot canvas"],
    empty: [() => (service.jobs = [sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 20, silent: true, rules: [] })]), ".empty"],
    error: [() => service.fail(/\/api\/v1\/jobs/), ".notice"],
  },
  ...Object.fromEntries([["system", ".plot canvas"], ["heatmap", ".heat-canvas"], ["steps", "#ranks-title"], ["rules", ".firings"], ["report", "#report-method"]].map(([part, ready]) => [part, {
    path: `/jobs/albef-1000/${part}`,
    data: [() => {}, ready],
    empty: [() => (service.jobs = [sampleJob({ name: "albef-1000", startedUs: kStart, seconds: 20, silent: true, rules: [] })]), { rules: "#rules-title", report: "#report-method" }[part] ?? ".empty"],
    error: [() => service.fail(/v1\/jobs\/albef-1000\/(metrics|heatmap|steps|findings|report)/), ".notice"],
  }])),
  compare: {
    path: "/compare?a=mlp-demo&b=albef-1000",
    data: [() => {}, "#compare-title"],
    empty: [() => {}, ".page-head"],
    error: [() => service.fail(/v1\/compare/), ".notice"],
  },
  fleet: {
    path: "/fleet",
    data: [() => (service.holders = kHolders), "#fleet-losses"],
    empty: [() => {}, ".empty"],
    error: [() => service.fail(/v1\/fleet/), ".notice"],
  },
  settings: {
    path: "/settings",
    data: [() => {}, "#service-title"],
    error: [() => service.fail(/readyz/), ".notice"],
  },
  alerts: {
    path: "/alerts",
    data: [() => {
      service.alerts.webhooks = [{ id: "1", url: `https://alerts.example.com/${"long-".repeat(30)}`, events: ["job.failed"], enabled: true, note: "", created: "", created_us: kStart }];
      service.alerts.deliver("1", "1", { event: "job.failed", job: "mlp-demo", state: "dead", attempts: [{ at: null, at_us: kStart, status: null, duration_ms: 84, answer: null, error: "host 'alerts.example.com' not found (Name or service not known); the service asks its resolver once more" }] });
    }, ".alert-hook"],
    empty: [() => {}, "#hooks-title"],
    error: [() => service.fail(/\/webhooks/), ".notice"],
  },
  tokens: {
    path: "/tokens",
    data: [() => Object.assign(service.access, { tokens: kTokens(), changes: [1, 2, 3].map((at) => sampleChange(at)) }), ".changes li"],
    empty: [() => {}, ".empty"],
    error: [() => service.fail(/\/api\/v1\/tokens/), ".notice"],
    forbidden: [() => service.fail(/\/api\/v1\/tokens/, { status: 403, words: ["Forbidden", "not for readers"] }), ".empty"],
  },
  login: {
    path: "/jobs",
    data: [() => service.access.demand({ st_reader_x: { name: "x", role: "reader" } }), "#token"],
  },
};

/** The tables that are wider than their box. */
const wideTables = (page) => page.evaluate(() => [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.getAttribute("aria-label")));

/** By how many pixels an element sticks out of its parent, sideways; 0 where there is none. */
function cutOff(page, selector) {
  return page.evaluate((wanted) => {
    const element = document.querySelector(wanted);
    if (!element) return 0;
    const [box, room] = [element, element.parentElement].map((each) => each.getBoundingClientRect());
    return Math.max(0, room.left - box.left, box.right - room.right);
  }, selector);
}

for (const [name, { path, ...states }] of Object.entries(kStates)) {
  for (const [state, [prepare, ready]] of Object.entries(states)) {
    for (const width of [1280, 390]) {
      for (const theme of ["light", "dark"]) {
        test(`${name}, ${state}, ${width} px, ${theme}: axe finds nothing, nothing sticks out or jumps`, async () => {
          prepare();
          const page = await openPage(browser, { width, theme });
          page.expected.push(/status of (401|403|500)/);
          await page.goto(service.url + path);
          await page.locator(ready).first().waitFor();
          await page.waitForLoadState("networkidle");
          assert.deepEqual(await axeViolations(page), []);
          assert.ok((await sidewaysScroll(page)) <= 0, "the page scrolls sideways");
          if (width === 390) assert.deepEqual(await wideTables(page), []);
          assert.ok((await cutOff(page, ".bar nav a[aria-current]")) <= 1, "the link of this page is cut off");
          assert.ok((await layoutShift(page)) <= 0.01, `layout shift ${await layoutShift(page)}`);
          await assertClean(page);
          await page.context().close();
        });
      }
    }
  }
}

test("nothing sticks out at 768 and 1920 px, and no target is smaller than 24 px", async () => {
  for (const width of [390, 768, 1920]) {
    const page = await openPage(browser, { width });
    service.access.tokens = kTokens();
    for (const path of ["/jobs", "/tokens", "/alerts", "/compare", "/fleet", "/jobs/albef-1000", ...["system", "heatmap", "steps", "rules", "report"].map((part) => `/jobs/albef-1000/${part}`), "/jobs/bert-large-uncased-finetune-with-a-long-name-0000000000000007"]) {
      await page.goto(service.url + path);
      await page.locator(".job-link, .plot canvas, .token-form, .heat-canvas, .rule, #report-method, .filters").first().waitFor();
      assert.ok((await sidewaysScroll(page)) <= 0, `${path} at ${width}`);
      const small = await page.evaluate(() =>
        [...document.querySelectorAll("button, select, input, .sort, .job-link, .bar a")]
          .map((target) => [target.className || target.tagName, target.getBoundingClientRect()])
          .filter(([, box]) => box.height > 0 && box.height < 23.9)
          .map(([target]) => target));
      assert.deepEqual(small, []);
    }
    await page.context().close();
  }
});

test("the theme follows the system until a choice is made, and the choice is kept", async () => {
  const page = await openPage(browser, { theme: "dark" });
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  await page.goto(`${service.url}/jobs/mlp-demo`);
  await page.locator(".plot canvas").first().waitFor();
  assert.equal(await theme(), "dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
  await page.keyboard.press("T");
  await page.keyboard.press("T");
  assert.equal(await theme(), "dark");
  await page.reload();
  await page.locator(".plot canvas").first().waitFor();
  assert.equal(await theme(), "dark");
  await assertClean(page);
  await page.context().close();
});

test("the first Tab leads past the frame", async () => {
  const page = await openPage(browser);
  await page.goto(`${service.url}/jobs`);
  await page.locator(".job-link").first().waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "content");
  await page.context().close();
});

test("an unknown path is a page that says so", async () => {
  const page = await openPage(browser);
  page.expected.push(/404/);
  const reply = await page.goto(`${service.url}/nothing/here`);
  assert.equal(reply.status(), 404);
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await assertClean(page);
  await page.context().close();
});

test("an error of the page itself shows a bar with its words", async () => {
  const page = await openPage(browser);
  await page.goto(`${service.url}/jobs`);
  await page.locator(".job-link").first().waitFor();
  await page.evaluate(() => void setTimeout(() => { throw new Error("broken <b>on purpose</b>"); }, 0));
  const bar = page.locator(".fault-bar");
  await bar.waitFor();
  assert.match(await bar.textContent(), /Something in this page failed\. broken <b>on purpose<\/b>/);
  await bar.getByRole("button", { name: "Dismiss" }).click();
  await bar.waitFor({ state: "detached" });
  assert.equal(page.faults.length, 1);
  await page.context().close();
});

test("ten tabs open at once all load", async () => {
  const pages = await Promise.all(Array.from({ length: 10 }, () => openPage(browser)));
  await Promise.all(pages.map((page) => page.goto(`${service.url}/jobs/mlp-demo`)));
  await Promise.all(pages.map((page) => page.locator(".plot canvas").first().waitFor()));
  await Promise.all(pages.map((page) => page.context().close()));
});

test("on paper there are no controls", async () => {
  const page = await openPage(browser);
  await page.goto(`${service.url}/jobs/mlp-demo`);
  await page.locator(".plot canvas").first().waitFor();
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator(".toolbar").isVisible(), false);
  assert.equal(await page.locator(".rules").isVisible(), true);
  await page.context().close();
});
