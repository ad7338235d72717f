// The report of a job of the real service, at a desk, on a phone and on paper. tests/e2e/page_test.py starts it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axeViolations, launch, openPage, sidewaysScroll } from "./support/chromium.mjs";
import { NodeFrames } from "./support/frames.mjs";
import { kSkip, RealService, signIn } from "./support/real_service.mjs";

const service = new RealService();
const kBegin = Date.now() * 1000 - 600e6;
const kGpus = Array.from({ length: 8 }, (_, gpu) => String(gpu));
let browser;

/** Two nodes with eight GPUs each, one of them idle; a gap in the middle. */
async function makeJob() {
  for (const name of ["host-1", "host-2"]) {
    const facts = { gpus: kGpus.map((device) => ({ device, name: "NVIDIA H100" })), cores: 64 };
    const node = new NodeFrames("sixteen", name).lifecycle(kBegin, { event: "started", group: "", interval_ms: 500, command: ["train"], facts });
    for (let at = 0; at < 240; at += 1) {
      if (at > 100 && at < 140) continue;
      const of = (metric, value) => kGpus.map((gpu) => [metric, gpu, name === "host-2" && gpu === "3" ? 0 : value + Number(gpu)]);
      node.tick(kBegin + at * 500_000, [...of("gpu_memory_used_percent", 30), ...of("gpu_util_percent", 40 + (at % 30)), ["node_cpu_percent", "", 95 - (at % 20)]]);
    }
    await service.push(node);
  }
}

before(async () => {
  if (kSkip) return;
  await makeJob();
  browser = await launch();
});
after(() => browser?.close());

const kPath = "/api/v1/jobs/sixteen/report.html";

/** Signs in and opens the report by the link on the job's page. */
async function openReport(look) {
  const page = await openPage(browser, { ignoreHTTPSErrors: true, ...look });
  // The browser's driver has scripts of its own, which the sandbox may keep out; that the report has none is asked below.
  page.expected.push(/status of 401/, /^Blocked script execution/);
  const { token } = await service.makeToken({ name: "anna", role: "reader" });
  await page.goto(`${service.url}/jobs/sixteen`);
  await signIn(page, token);
  await page.getByRole("link", { name: "Report" }).click();
  await page.getByRole("link", { name: "Open it" }).click();
  await page.getByRole("heading", { name: "sixteen", level: 1 }).waitFor();
  assert.equal(new URL(page.url()).pathname, kPath);
  return page;
}

/** The violations that axe finds in a copy of the page without the sandbox, in which axe cannot run. */
async function axeOf(page, look) {
  const copy = await openPage(browser, look);
  await copy.setContent(await page.content());
  const found = await axeViolations(copy);
  await copy.context().close();
  return found;
}

/** The tables that are wider than their box. */
const wideTables = (page) => page.evaluate(() => [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.getAttribute("aria-label")));

for (const look of [{ width: 1280, theme: "light" }, { width: 390, theme: "dark" }]) {
  test(`the report is reached by its link and reads well: ${look.width} px, ${look.theme}`, { skip: kSkip }, async () => {
    const page = await openReport(look);
    await page.getByText(/^As of/).waitFor();
    for (const title of ["Job summary", "System usage", "Framework metrics", "Rules summary", "Each rule", "Diagnosis: where the time went", "Method"]) {
      await page.getByRole("heading", { name: title, level: 2 }).waitFor();
    }
    await page.getByText("2 nodes, 16 GPUs").waitFor();
    assert.equal(await sidewaysScroll(page), 0);
    if (look.width === 390) assert.deepEqual(await wideTables(page), []);
    assert.deepEqual(await axeOf(page, look), []);
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(ground, look.theme === "dark" ? "rgb(15, 20, 25)" : "rgb(245, 246, 248)");
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
}

test("on paper it is light, and nothing sticks out", { skip: kSkip }, async () => {
  const page = await openReport({ theme: "dark" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  await page.setViewportSize({ width: 688, height: 1000 }); // A4 without its margins
  assert.equal(await sidewaysScroll(page), 0);
  const folded = await page.evaluate(() => [...document.querySelectorAll("details:not([open]) > :not(summary)")].map((each) => each.checkVisibility()));
  assert.ok(folded.length > 10 && folded.every(Boolean), "folded parts can be read");
  await page.emulateMedia({ media: "screen" });
  assert.equal(await page.evaluate(() => document.querySelector("details:not([open]) > :not(summary)").checkVisibility()), false);
  await page.emulateMedia({ media: "print" });
  assert.ok((await page.pdf({ format: "A4" })).length > 10_000);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test("the file is well-formed, small, and says itself what may be done with it", { skip: kSkip }, async () => {
  const answer = await fetch(service.url + kPath, { headers: { authorization: `Bearer ${service.token}` } });
  const policy = answer.headers.get("content-security-policy");
  assert.match(policy, /default-src 'none'.*sandbox/);
  const html = await answer.text();
  assert.ok(html.length < 1_500_000);
  const page = await openPage(browser);
  const said = await page.evaluate((text) => {
    const xml = new DOMParser().parseFromString(text.replace("<!DOCTYPE html>", ""), "application/xml");
    const wrong = xml.querySelector("parsererror")?.textContent ?? "";
    const own = xml.querySelector("meta[http-equiv]")?.getAttribute("content");
    return { wrong, own, scripts: xml.querySelectorAll("script").length, pictures: xml.querySelectorAll("svg").length };
  }, html);
  assert.equal(said.wrong, "");
  assert.equal(said.scripts, 0);
  assert.ok(said.pictures > 2);
  assert.ok(policy.startsWith(said.own));
  await page.context().close();
});
