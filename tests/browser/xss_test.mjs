import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { page, service, usePage } from "./support/mock_page.mjs";
import { rule, sampleJob } from "./support/sample_jobs.mjs";
import { kXss, violations } from "./support/xss.mjs";
import { XssRun } from "./support/xss_run.mjs";

let run;
const kStart = Date.now() * 1000 - 3600e6;

usePage(() => service.reset());
beforeEach(async () => {
  run = await XssRun.open(service, page);
});

test("the corpus is large, and the alarms ring", async () => {
  assert.ok(new Set(kXss).size >= 300, `${new Set(kXss).size} texts`);
  run.page.expected.push(/Trusted|Content Security Policy|TrustedHTML/);
  await run.page.goto(`${service.url}/jobs`);
  await run.page.locator(".empty").waitFor();
  assert.deepEqual(await run.page.evaluate(violations), []);
  const refused = await run.page.evaluate(() => {
    const evil = document.createElement("iframe");
    evil.setAttribute("id", "javascript:");
    document.body.append(evil);
    window.hit("by hand");
    try {
      document.body.innerHTML = "<b>x</b>";
    } catch (error) {
      return error.name;
    }
    return "taken";
  });
  assert.equal(refused, "TypeError", "the browser enforces Trusted Types");
  assert.deepEqual(await run.page.evaluate(violations), ["ran by hand", "<iframe>"]);
  assert.match((await run.page.evaluate(() => window.noted.csp)).join(), /require-trusted-types-for/);
  await run.page.goto("about:blank");
});

test("every text in every field of the list, as a table and as cards", async () => {
  service.jobs = Array.from({ length: 50 }, (_, i) => sampleJob({ name: `job-${i}`, group: "x", startedUs: kStart - i * 1e6, seconds: 5, rules: [rule("A", "finding"), rule("B", "error")] }));
  run.poisonAnswers(/\/(jobs|rules)$/);
  await run.eachPage(50, async () => {
    run.placed = [];
    await run.page.goto(`${service.url}/jobs`);
    await run.page.locator(".job-link").nth(49).waitFor();
    await run.page.locator("option").nth(15).waitFor({ state: "attached" });
    await run.assertShown(run.textsOf("name", "group", "secondary_status", "rules_in_trouble"), `table, round ${run.round}`);
    await run.page.setViewportSize({ width: 390, height: 800 });
    await run.page.locator(".job-card").first().waitFor();
    await run.assertShown(run.textsOf("name", "secondary_status", "rules_in_trouble"), `cards, round ${run.round}`);
    await run.page.setViewportSize({ width: 1280, height: 900 });
  });
});

/** Opens the parts of a job's page that show only on request: cursor values and tables. */
function openTables() {
  const key = new KeyboardEvent("keydown", { key: "Home", bubbles: true });
  for (const plot of document.querySelectorAll(".plot")) plot.dispatchEvent(key);
  for (const button of document.querySelectorAll(".chart-menu button[aria-pressed=false]")) button.click();
}

const kShownOnOverview = [
  "group", "failure.node", "failure.output",
  ...["name", "absent.source", "absent.reason", "facts.agent_version", "facts.command", "gpus.name"].map((key) => `nodes.${key}`),
  ...["secondary_status", "message"].map((key) => `secondary_status_transitions.${key}`),
];
const kShownOnRules = ["rule", "rule_configuration_name", "verdict.sentence", "severity"].map((key) => `profiler_rule_evaluation_statuses.${key}`);

test("every text in the fields of a job, every field with many of them", async () => {
  const failure = { node: "x", exit_code: 1, signal: null, output: ["x", "x", "x"] };
  service.jobs = kXss.map((_, i) => sampleJob({ name: `job-${i}`, group: "x", startedUs: kStart, seconds: 3, gpus: 2, status: "Failed", failure }));
  run.poisonAnswers(/\/jobs\/job-\d+/, ({ name }) => ({ name })); // the name stays, as the job is asked for by it; names have a test of their own
  await run.page.goto(`${service.url}/jobs`);
  await run.eachText(async () => {
    await run.go(`/jobs/job-${run.round}`);
    await run.until((wanted) => document.querySelector("h1")?.textContent === wanted && document.querySelector(".facts") && !document.querySelector(".loading"), `job-${run.round}`);
    await run.assertShown(run.textsOf(...kShownOnOverview));
    const ofRules = run.textsOf(...kShownOnRules);
    await run.go(`/jobs/job-${run.round}/rules`);
    await run.until(() => document.querySelector(".rule"));
    await run.assertShown(ofRules, `rules, round ${run.round}`);
    for (const part of ["steps", "heatmap", "report"]) {
      await run.go(`/jobs/job-${run.round}/${part}`);
      await run.until(() => document.querySelector(".tabs [aria-current=page]") && !document.querySelector(".loading"));
      await run.assertNoViolation(`${part}, round ${run.round}`);
    }
    await run.go(`/jobs/job-${run.round}/system`);
    await run.until(() => document.querySelector("#chart-gpu") && !document.querySelector(".loading"));
    await run.page.evaluate(openTables);
    await run.until(() => {
      const opened = document.querySelectorAll(".chart-menu button[aria-pressed=true]").length;
      return opened >= 5 && document.querySelectorAll(".chart-table").length === opened;
    });
    const drawn = run.series.filter(({ metric }) => metric === "gpu_util_percent");
    assert.equal(drawn.length, 2, `GPUs, round ${run.round}`);
    await run.assertShown(drawn.flatMap(({ node, device }) => [node, device]), `tables, round ${run.round}`);
  }, 4);
});

test("every text as the name of a job, there and not there", async () => {
  run.page.expected.push(/status of 404/);
  await run.page.goto(`${service.url}/jobs`);
  const titled = (name) => { // the browser leaves control characters and doubled spaces out of titles
    const bare = (text) => text.replace(/[\u0000-\u0020\u007f-\u00a0]+/g, "");
    return bare(document.title) === bare(`${name} · Stepscope`);
  };
  await run.eachText(async (name) => {
    service.jobs = run.round % 2 === 0 ? [sampleJob({ name, startedUs: kStart, seconds: 1, silent: true })] : [];
    await run.go(`/jobs/${encodeURIComponent(name)}`);
    await run.until(titled, name);
    await run.until(() => document.querySelector(".rules, .empty"));
    await run.assertShown([name]);
  });
});

test("every text in the address: filters that nothing matches, and paths that lead nowhere", async () => {
  await run.page.goto(`${service.url}/jobs`);
  await run.eachText(async (text, other) => {
    const [q, issue] = [text, other].map(encodeURIComponent);
    await run.go(`/jobs?q=${q}&issue=${issue}&status=${q}&after=${issue}&before=${q}&sort=${issue}&from=${q}&rank=${issue}&tz=${q}&${q}=${issue}`);
    await run.until((wanted) => document.querySelector(".empty h2")?.textContent.includes(`a name with “${wanted}”`), text);
    await run.assertShown([text, other]);
    await run.go(`/${q}/${issue}?${q}`);
    await run.until(() => document.querySelector(".empty h1"));
    await run.assertShown([`/${q}`.replace(/[<>]/g, encodeURIComponent)], `path, round ${run.round}`);
  });
});

test("every text in what the service says of a failure", async () => {
  run.page.expected.push(/status of 50[01]/);
  await run.page.goto(`${service.url}/jobs`);
  await run.eachText(async (title, detail) => {
    service.faults = [];
    const status = 500 + (run.round % 2);
    service.fail(/\/jobs\?/, { status, words: [title, `${detail} `] });
    await run.go(`/jobs?q=${run.round}`);
    await run.until((wanted) => document.querySelector(".notice")?.textContent.includes(`(HTTP ${wanted}`), status);
    await run.assertShown([title, detail]);
  });
});
