// Figures of the web page on a service that runs: node bench/ui_figures.mjs URL JOB [ROUNDS]. It opens each part of the
// job's page ROUNDS times (9) with an empty cache and again with a warm one, and prints the medians: first paint, first
// chart, layout shift, calls of the API and bytes of JavaScript. tests/browser must have its packages.

import { launch, openPage } from "../tests/browser/support/chromium.mjs";

const [url, job, rounds = "9"] = process.argv.slice(2);
if (!url || !job) {
  console.error("usage: node bench/ui_figures.mjs URL JOB [ROUNDS]");
  process.exit(2);
}
const kPages = { overview: "", system: "/system", "heat map": "/heatmap", steps: "/steps", rules: "/rules", report: "/report" };

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** One load of a page, as its own clock saw it. */
async function load(page, address) {
  let calls = 0;
  const count = (request) => void (calls += /\/api\//.test(request.url()) ? 1 : 0);
  page.on("request", count);
  await page.goto(address);
  await page.waitForLoadState("networkidle");
  page.off("request", count);
  const seen = await page.evaluate(() => {
    const first = (name) => performance.getEntriesByName(name)[0]?.startTime ?? null;
    const scripts = performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js"));
    return { paint: first("first-contentful-paint"), drawn: first("chart") ?? first("heat"), shift: window.noted.shift, script: scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) };
  });
  return { ...seen, calls };
}

function line(name, cache, loads) {
  const of = (key) => loads.map((each) => each[key]).filter((value) => value !== null);
  const ms = (key) => (of(key).length === 0 ? "-" : `${Math.round(median(of(key)))} ms`);
  return [name, cache, ms("paint"), ms("drawn"), Math.max(...of("shift")).toFixed(4), median(of("calls")), `${(median(of("script")) / 1024).toFixed(1)} KiB`].join(" | ");
}

const browser = await launch();
try {
  console.log("page | cache | first paint | first chart | largest layout shift | calls | JavaScript (as sent)");
  for (const [name, path] of Object.entries(kPages)) {
    const address = `${url}/jobs/${encodeURIComponent(job)}${path}`;
    const [empty, warm] = [[], []];
    for (let round = 0; round < Number(rounds); round += 1) {
      const page = await openPage(browser);
      empty.push(await load(page, address));
      warm.push(await load(page, address));
      await page.context().close();
    }
    console.log(line(name, "empty", empty));
    console.log(line(name, "warm", warm));
  }
} finally {
  await browser.close();
}
