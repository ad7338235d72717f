// The corpus through the real service: put in by its REST API and as frames, looked at on its pages
// under its own headers. tests/e2e/page_test.py starts the service.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { assertClean, launch, openPage } from "./support/chromium.mjs";
import { NodeFrames } from "./support/frames.mjs";
import { kSkip, RealService, signIn } from "./support/real_service.mjs";
import { kXss } from "./support/xss.mjs";
import { XssRun } from "./support/xss_run.mjs";

const service = new RealService();
const kUnique = [...new Set(kXss)].filter((text) => !text.includes("\0")); // NUL is refused everywhere
/** Texts as names, which take 63 bytes without control characters. */
const kNames = kUnique.filter((text) => !/[\u0000-\u001f\u007f]/.test(text) && Buffer.byteLength(text) <= 63);
/** Texts as the service keeps them in the words of a command: without control characters. */
const shown = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "");
const kNodes = 5; // a chart has at most five lines, so a job has five nodes
const kJobs = Math.ceil(kUnique.length / kNodes);
const kBegin = Date.now() * 1000 - 600e6;

const name = (i) => kNames[i % kNames.length];
const words = (i) => kUnique[i % kUnique.length];
const numbersOf = (number) => Array.from({ length: kNodes }, (_, i) => number * kNodes + i);
/** The words of the command of a job, and the lines that it ended with. */
const commandOf = (number) => numbersOf(number).map(words);

/** The first frames of node number i: it starts and is measured. */
function nodeOf(number, i) {
  const facts = { agent_version: words(i), kernel: words(i + 1), gpus: [{ name: words(i + 2) }], absent: [{ source: words(i + 3), reason: words(i + 4) }] };
  const node = new NodeFrames(`xss-${number}`, name(i)).lifecycle(kBegin, { event: "started", group: "", interval_ms: 500, command: commandOf(number), facts });
  for (let at = 0; at < 4; at += 1) {
    const disk = i % kNodes === 0 ? [["disk_read_bytes_per_second", name(i + 2), 1000], ["network_send_bytes_per_second", name(i + 3), 1000]] : [];
    node.tick(kBegin + at * 500_000, [["node_cpu_percent", "", 40], ["gpu_util_percent", name(i + 1), 30], ...disk]);
  }
  return node;
}

async function makeJob(number) {
  const rules = numbersOf(number).map((i) => ({ name: name(i), rule: "CPUBottleneck" }));
  await service.do("POST", "/jobs", { name: `xss-${number}`, group: name(number), configuration: { rules, tags: { [name(number)]: shown(words(number)).slice(0, 60) } } }, 201);
  const nodes = numbersOf(number).map((i) => nodeOf(number, i));
  for (const node of nodes) await service.push(node);
  for (const [at, node] of nodes.entries()) {
    await service.push(node.lifecycle(kBegin + 2e6 + at, { event: "ended", exit_code: 1, output: commandOf(number) }));
  }
}

let browser, run;

before(async () => {
  if (kSkip) return;
  for (let number = 0; number < kJobs; number += 1) await makeJob(number);
  browser = await launch();
});
after(() => browser?.close());
beforeEach(async () => {
  if (kSkip) return;
  run = await XssRun.open(service, await openPage(browser));
  run.page.expected.push(/status of 40[0134]/);
});
afterEach(async () => {
  if (kSkip) return;
  await assertClean(run.page);
  await run.page.context().close();
});

async function enter(token = service.token) {
  await run.page.goto(`${service.url}/jobs`);
  await signIn(run.page, token);
  await run.page.locator(".job-link, .empty").first().waitFor();
}

test("the service's own headers are enforced", { skip: kSkip }, async () => {
  run.page.expected.push(/Trusted|Content Security Policy/);
  await run.page.goto(`${service.url}/jobs`);
  await run.page.locator("#token").waitFor();
  const refused = await run.page.evaluate(() => {
    try {
      document.body.innerHTML = "<b>x</b>";
      return null;
    } catch (error) {
      return error.name;
    }
  });
  assert.equal(refused, "TypeError");
  assert.match((await run.page.evaluate(() => window.noted.csp)).join(), /require-trusted-types-for/);
  await run.page.goto("about:blank");
});

test("every text of jobs, nodes, devices, rules, commands and failures", { skip: kSkip }, async () => {
  await enter();
  for (run.round = 0; run.round < kJobs; run.round += 1) {
    await run.go(`/jobs/xss-${run.round}`);
    await run.until((wanted) => document.querySelector("h1")?.textContent === wanted && document.querySelector(".facts") && !document.querySelector(".loading"), `xss-${run.round}`);
    const numbers = numbersOf(run.round);
    const first = numbers[0];
    const command = commandOf(run.round).map(shown);
    await run.assertShown([name(run.round), ...numbers.map(name), command.join(" "), command.join("\n")]);
    await run.assertShown(numbers.flatMap((i) => [words(i), words(i + 2), `${words(i + 3)}: ${words(i + 4)}`]));
    await run.go(`/jobs/xss-${run.round}/rules`);
    await run.until(() => document.querySelectorAll(".rule").length > 0);
    await run.assertShown(numbers.map(name), `rules of ${run.round}`);
    for (const part of ["heatmap", "steps", "report"]) {
      await run.go(`/jobs/xss-${run.round}/${part}`);
      await run.until(() => document.querySelector(".tabs [aria-current=page]") && !document.querySelector(".loading"));
      await run.assertNoViolation(`${part} of ${run.round}`);
    }
    await run.go(`/jobs/xss-${run.round}/system`);
    await run.page.locator("#chart-gpu").waitFor();
    await run.until(() => document.querySelectorAll(".chart-menu button[aria-pressed=false]").length >= 4);
    await run.page.evaluate(() => document.querySelectorAll(".chart-menu button[aria-pressed=false]").forEach((button) => button.click()));
    await run.until(() => document.querySelectorAll(".chart-table").length >= 4);
    await run.assertShown([...numbers.map((i) => `${name(i)} ${name(i + 1)}`), name(first + 2), name(first + 3)], `system of ${run.round}`);
  }
});

test("every group in the list, on all of its pages", { skip: kSkip }, async () => {
  await enter();
  const groups = new Set();
  for (let pages = 1; ; pages += 1) {
    await run.assertNoViolation(`page ${pages}`);
    for (const group of await run.page.locator("tbody .group").allTextContents()) groups.add(group);
    const next = run.page.getByRole("link", { name: /^Next page/ });
    if ((await next.count()) === 0) break;
    const before = await run.page.locator(".job-link").first().textContent();
    await next.click();
    await run.until((old) => document.querySelector(".job-link")?.textContent !== old && !document.querySelector(".loading"), before);
  }
  for (let number = 0; number < kJobs; number += 1) assert.ok(groups.has(name(number)), name(number));
});

test("every text as the name of a token, of who made it, who changed what, and who is signed in", { skip: kSkip }, async () => {
  let maker = service.token;
  await enter();
  for (let from = 0; from < kNames.length; from += 49) {
    const texts = kNames.slice(from, from + 49);
    for (const text of texts) maker = (await service.makeToken({ name: text, role: "admin" }, maker)).token;
    await service.makeToken({ name: "last", role: "reader" }, maker);
    run.round = from;
    await run.go("/jobs");
    await run.go("/tokens");
    await run.page.locator(".changes li").nth(49).waitFor();
    await run.assertShown(texts);
    for (const place of ["tbody th", "tbody .group", ".changes b"]) {
      const said = (await run.page.locator(place).allTextContents()).join("\n");
      for (const text of texts) assert.ok(said.includes(text), `${place}: ${text}`);
    }
  }
  await run.page.context().clearCookies();
  await enter(maker);
  assert.equal(await run.page.locator(".account b").textContent(), kNames.at(-1));
  await run.assertNoViolation();
});

test("answers of the API that are opened as pages are texts", { skip: kSkip }, async () => {
  const made = [];
  for (const text of kNames) made.push(await service.ask("POST", "/webhooks", { url: `https://203.0.113.7/${text}`, events: ["webhook.test"] }));
  assert.ok(made.filter(({ status }) => status === 201).length > 50, "webhooks are taken, with --webhook-allow 203.0.113.0/24");
  await enter();
  const fixed = ["/api/v1/jobs/xss-1", "/api/v1/jobs?limit=100", "/api/v1/tokens", "/api/v1/audit", "/api/v1/webhooks", "/api/v1/jobs/xss-1/metrics?metric=gpu_util_percent", "/metrics"];
  const odd = kUnique.slice(0, 40).map(encodeURIComponent).flatMap((text) => [`/api/v1/jobs/${text}`, `/api/v1/jobs?${text}=${text}`, `/jobs/${text}?${text}`, `/assets/${text}`]);
  for (const path of [...fixed, ...odd]) {
    const reply = await run.page.goto(service.url + path);
    const { "content-type": type, "content-security-policy": policy, "x-content-type-options": sniff } = reply.headers();
    assert.match(policy, /default-src 'none'.*require-trusted-types-for 'script'/, path);
    assert.equal(sniff, "nosniff", path);
    if (!path.startsWith("/jobs/")) assert.match(type, /json|text\/plain/, path);
    await run.assertNoViolation(path);
  }
});
