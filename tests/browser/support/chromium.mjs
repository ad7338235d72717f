import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const kAxe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const kPlaces = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];

/** The browser of this machine; CHROMIUM names another one. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM || kPlaces.find((place) => existsSync(place)),
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
    ],
  });
}

/** A page of a fresh profile that notes everything that must not happen. */
export async function openPage(browser, { width = 1280, height = 900, theme = "light", ...more } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, ...more });
  const page = await context.newPage();
  const faults = [];
  page.expected = []; // console errors that the test itself causes, as RegExp
  page.on("pageerror", (error) => faults.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !page.expected.some((text) => text.test(message.text()))) faults.push(`console: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  page.on("request", (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (/^http/.test(protocol) && hostname !== "127.0.0.1" && hostname !== "localhost") faults.push(`request to ${hostname}`);
  });
  await page.addInitScript(() => {
    window.noted = { csp: [], shift: 0 };
    document.addEventListener("securitypolicyviolation", (event) =>
      window.noted.csp.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.noted.shift += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  page.faults = faults;
  return page;
}

/** Nothing was refused by the policy, nothing failed, nobody else was asked. */
export async function assertClean(page) {
  assert.deepEqual(page.faults, []);
  assert.deepEqual(await page.evaluate(() => window.noted.csp), []);
}

export async function layoutShift(page) {
  return page.evaluate(() => window.noted.shift);
}

/** The violations that axe finds, one line of text each. */
export async function axeViolations(page) {
  await page.evaluate(kAxe);
  const found = await page.evaluate(() =>
    window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  return found.violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")}: ${node.failureSummary}`));
}

/** The pixels by which the page is wider than its window. */
export async function sidewaysScroll(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** Counts the pixels of a chart's canvas that are near a colour ("#rrggbb"). */
export async function pixelsNear(page, chart, colour) {
  return page.locator(`#chart-${chart}`).evaluate((title, wanted) => {
    const canvas = title.closest(".chart").querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(wanted.slice(i, i + 2), 16));
    let many = 0;
    for (let i = 0; i < data.length; i += 4) {
      const far = Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b);
      if (data[i + 3] > 200 && far < 24) many += 1;
    }
    return many;
  }, colour);
}
