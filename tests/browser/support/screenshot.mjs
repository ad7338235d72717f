// Takes the pictures of a job's page: node screenshot.mjs URL JOB FOLDER HEIGHT [all]. With "all" also of every part of it
// and of every other page. scripts/screenshot starts it; STEPSCOPE_TOKEN is the token to sign in with, when the service demands one.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch, openPage } from "./chromium.mjs";
import { withPalette } from "./palette_png.mjs";
import { signIn } from "./real_service.mjs";

const kPictures = [
  { name: "job-light", width: 1280, theme: "light" },
  { name: "job-dark", width: 1280, theme: "dark" },
  { name: "job-phone-light", width: 390, theme: "light" },
  { name: "job-phone-dark", width: 390, theme: "dark" },
];
const kTimeoutMs = 30_000;

/** The other pages by the names of their pictures: the address for a job, and what is on screen once it is drawn. */
const kPages = {
  system: [(job) => `/jobs/${job}/system`, ".plot canvas, .empty"],
  heatmap: [(job) => `/jobs/${job}/heatmap`, ".heat-canvas, .empty"],
  steps: [(job) => `/jobs/${job}/steps`, ".plot canvas, .plot-empty, .empty"],
  rules: [(job) => `/jobs/${job}/rules`, "#rules-title"],
  report: [(job) => `/jobs/${job}/report`, "#report-method"],
  jobs: [() => "/jobs", ".job-link"],
  compare: [(job) => `/compare?a=${job}&b=${job}`, "#compare-title"],
  fleet: [() => "/fleet", "#fleet-weeks, .empty"],
  alerts: [() => "/alerts", "#hooks-title, .empty"],
  settings: [() => "/settings", "#service-title"],
  tokens: [() => "/tokens", "tbody tr, .empty"],
};

/** Opens the job's page and waits until its charts and the parts below them are drawn. */
async function openJob(page, address, token) {
  const reply = await page.goto(address);
  if (!reply.ok()) throw new Error(`${address}: HTTP ${reply.status()}`);
  await page.locator("#token, .plot canvas, .empty").first().waitFor();
  if (await page.locator("#token").count()) {
    if (!token) throw new Error("the service demands a token: --token-file");
    await signIn(page, token);
    await page.locator(".plot canvas, .empty, #login-fault .notice").first().waitFor();
  }
  const fault = page.locator(".empty h1, #login-fault .notice").first();
  if (await fault.count()) throw new Error(`${address}: ${await fault.textContent()}`);
  await page.locator("#facts-title").waitFor();
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => document.fonts.ready);
}

/** The height of the picture, `most` at most: it ends below a card or a rule, where one ends in its last quarter. */
function heightOf(most) {
  const kSpace = 8; // between two cards
  const ends = [...document.querySelectorAll(".card, .rule")].map((each) => Math.ceil(each.getBoundingClientRect().bottom + scrollY) + kSpace);
  const whole = document.documentElement.scrollHeight;
  const fitting = ends.filter((end) => end <= most && end > 0.75 * most);
  return whole <= most ? whole : Math.max(...fitting, fitting.length === 0 ? most : 0);
}

/** The page from its top, `most` pixels high at most. */
async function picture(page, width, most) {
  const height = await page.evaluate(heightOf, most);
  return page.screenshot({ fullPage: true, clip: { x: 0, y: 0, width, height }, animations: "disabled", caret: "hide" });
}

function write(path, png) {
  writeFileSync(path, png);
  console.log(`${path}, ${Math.ceil(png.length / 1024)} KiB`);
}

/** Every other page, in the look of this one, which is signed in. */
async function takeOthers(page, { name, width }, [url, job, folder, height]) {
  for (const [other, [address, ready]] of Object.entries(kPages)) {
    await page.goto(url + address(encodeURIComponent(job)));
    await page.locator(ready).first().waitFor();
    await page.waitForLoadState("networkidle");
    write(join(folder, `${name.replace("job", other)}.png`), withPalette(await picture(page, width, Number(height))));
  }
}

async function takePictures(browser, words) {
  const [url, job, folder, height, all] = words;
  mkdirSync(folder, { recursive: true });
  for (const look of kPictures) {
    const { name, width, theme } = look;
    const page = await openPage(browser, { width, theme, reducedMotion: "reduce" });
    page.setDefaultTimeout(kTimeoutMs);
    await openJob(page, `${url}/jobs/${encodeURIComponent(job)}`, process.env.STEPSCOPE_TOKEN);
    write(join(folder, `${name}.png`), withPalette(await picture(page, width, Number(height))));
    if (all === "all") await takeOthers(page, look, words);
    await page.context().close();
  }
}

let browser;
try {
  browser = await launch();
  await takePictures(browser, process.argv.slice(2));
} catch (fault) {
  console.error(fault.message.split("\nCall log:")[0]);
  process.exitCode = 1;
} finally {
  await browser?.close();
}
