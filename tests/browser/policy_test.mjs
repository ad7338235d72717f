import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { assertClean, openPage } from "./support/chromium.mjs";
import { sampleToken } from "./support/mock_access.mjs";
import { browser, service, useService } from "./support/mock_page.mjs";
import { kHeaders } from "./support/mock_service.mjs";
import { sampleJob } from "./support/sample_jobs.mjs";

// Every page under the exact policy of the service: nothing is refused, because nothing needs to be.

const kFinish = new URL("../../server/front/finish.cpp", import.meta.url);

useService(() => {
  service.reset([sampleJob({ name: "mlp-demo", startedUs: Date.now() * 1000 - 3600e6, seconds: 120, gpus: 2 })]);
  service.access.tokens = [sampleToken("aaaaaaa1", { name: "anna" })];
});

test("the scripted service sends the headers that the service sends", () => {
  const source = readFileSync(kFinish, "utf8").replace(/"\s*\n\s*"/g, "");
  const sent = [...source.matchAll(/\{"([A-Z][A-Za-z-]+)",\s*"([^"]+)"\}/g)].map(([, name, value]) => [name.toLowerCase(), value]);
  assert.deepEqual(Object.fromEntries(sent), kHeaders);
});

const demand = () => service.access.demand({ st_reader_x: { name: "x", role: "reader" } });
const fail = (status) => service.fail(/\/api\/v1\/(jobs|tokens)/, { status });

/** For each page: a function that prepares the service, the address, and a script of actions and of selectors to wait for. */
const kPages = {
  list: [() => {}, "/jobs", [".job-link"]],
  "list, empty": [() => (service.jobs = []), "/jobs", [".empty"]],
  "list, no hit": [() => {}, "/jobs?q=none", [".empty"]],
  "list, error": [() => fail(500), "/jobs", [".notice"]],
  "list, forbidden": [() => fail(403), "/jobs", [".notice"]],
  "keys": [() => {}, "/jobs", [".job-link", (page) => page.keyboard.press("?"), "dialog"]],
  job: [() => {}, "/jobs/mlp-demo?from=1000&to=90000", [".plot canvas", (page) => page.locator("#chart-cpu").click()]],
  "job, as tables": [() => {}, "/jobs/mlp-demo", [".plot canvas", (page) => page.getByRole("button", { name: "Table of CPU" }).click(), ".chart-table"]],
  "job, zoomed by hand": [() => {}, "/jobs/mlp-demo", [".plot canvas", drag, "button:text-is('Zoom out'):enabled"]],
  "job, error": [() => fail(500), "/jobs/mlp-demo", [".notice"]],
  "job, not there": [() => {}, "/jobs/none", [".empty"]],
  login: [demand, "/jobs", ["#token"]],
  "login, refused": [demand, "/jobs", ["#token", signIn("st_wrong"), "#login-fault .notice"]],
  "login, done": [demand, "/jobs", ["#token", signIn("st_reader_x"), ".job-link", (page) => page.locator(".account").click(), "#account:popover-open"]],
  tokens: [() => {}, "/tokens", ["tbody tr"]],
  "tokens, made": [() => {}, "/tokens", ["tbody tr", make, ".token-made"]],
  "tokens, revoke": [() => {}, "/tokens", ["tbody tr", (page) => page.locator("tbody button").click(), "dialog"]],
  "tokens, error": [() => fail(500), "/tokens", [".notice"]],
  "tokens, forbidden": [() => fail(403), "/tokens", [".empty"]],
  "no such page": [() => {}, "/nothing/here", [".empty"]],
};

async function drag(page) {
  await page.locator("#chart-cpu").scrollIntoViewIfNeeded(); // the plot itself may be made anew when the rules come
  const box = await page.locator(".chart", { has: page.locator("#chart-cpu") }).locator(".u-over").boundingBox();
  await page.mouse.move(box.x + 80, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + 200, box.y + 40, { steps: 4 });
  await page.mouse.up();
}
async function make(page) {
  await page.getByLabel("Name").fill("nightly");
  await page.keyboard.press("Enter");
}
function signIn(token) {
  return async (page) => {
    await page.locator("#token").fill(token);
    await page.keyboard.press("Enter");
  };
}

for (const [name, [prepare, path, script]] of Object.entries(kPages)) {
  test(`${name}: nothing is refused by the policy, no dialog, no error in the console`, async () => {
    prepare();
    const page = await openPage(browser);
    page.expected.push(/status of (401|403|404|500)/);
    await page.goto(service.url + path);
    for (const part of script) {
      if (typeof part === "string") await page.locator(part).first().waitFor();
      else await part(page);
    }
    await assertClean(page);
    await page.context().close();
  });
}

/** Tries what the policy forbids; gives the names of the tries that succeeded. */
function attempt() {
  const tries = {
    innerHTML: () => (document.createElement("div").innerHTML = "<b>x</b>"),
    outerHTML: () => (document.body.appendChild(document.createElement("i")).outerHTML = "<b>x</b>"),
    insertAdjacentHTML: () => document.body.insertAdjacentHTML("beforeend", "<b>x</b>"),
    "document.write": () => document.write("<b>x</b>"),
    "script.text": () => (document.createElement("script").text = "window.ran = 1"),
    "script.src": () => (document.createElement("script").src = "data:,window.ran=1"),
    srcdoc: () => (document.createElement("iframe").srcdoc = "<script>parent.ran = 1</script>"),
    parseFromString: () => new DOMParser().parseFromString("<b>x</b>", "text/html"),
    "a policy of another name": () => window.trustedTypes.createPolicy("evil", { createHTML: (text) => text }),
  };
  return Object.entries(tries).filter(([, act]) => {
    try {
      act();
      return true;
    } catch {
      return false;
    }
  }).map(([name]) => name);
}

test("the browser enforces the policy: nothing that makes markup of a text goes through", async () => {
  const page = await openPage(browser);
  page.expected.push(/Trusted|Content Security Policy/);
  await page.goto(`${service.url}/jobs`);
  await page.locator(".job-link").waitFor();
  assert.deepEqual(await page.evaluate(attempt), []);
  const heard = await page.evaluate(() => window.noted.csp);
  assert.ok(heard.length >= 8, heard.join("\n"));
  await page.context().close();
});
