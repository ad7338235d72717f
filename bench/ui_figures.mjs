// Figures of the web page on a service that runs: node bench/ui_figures.mjs URL JOB [ROUNDS]. It opens each part of the
// job's page, the list, the comparison of the job with itself, and the fleet ROUNDS times (9) with an empty cache and again with a warm one, and prints the medians: first paint, first
// chart, layout shift, calls of the API and bytes of JavaScript. tests/browser must have its packages.

import { launch, openPage } from "../tests/browser/support/chromium.mjs";

const [url, job, rounds = "9"] = process.argv.slice(2);
if (!url || !job) {
  console.error("usage: node bench/ui_figures.mjs URL JOB [ROUNDS]");
  process.exit(2);
}
const name = encodeURIComponent(job);
const kPages = {
  ...Object.fromEntries(Object.entries({ overview: "", system: "/system", "heat map": "/heatmap", steps: "/steps", rules: "/rules", report: "/report" }).map(([word, part]) => [word, `/jobs/${name}${part}`])),
  jobs: "/jobs", compare: `/compare?a=${name}&b=${name}`, fleet: "/fleet",
};

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

function line(word, cache, loads) {
  const of = (key) => loads.map((each) => each[key]).filter((value) => value !== null);
  const ms = (key) => (of(key).length === 0 ? "-" : `${Math.round(median(of(key)))} ms`);
  return [word, cache, ms("paint"), ms("drawn"), Math.max(...of("shift")).toFixed(4), median(of("calls")), `${(median(of("script")) / 1024).toFixed(1)} KiB`].join(" | ");
}

const browser = await launch();
try {
  console.log("page | cache | first paint | first chart | largest layout shift | calls | JavaScript (as sent)");
  for (const [word, path] of Object.entries(kPages)) {
    const address = `${url}${path}`;
    const [empty, warm] = [[], []];
    for (let round = 0; round < Number(rounds); round += 1) {
      const page = await openPage(browser);
      empty.push(await load(page, address));
      warm.push(await load(page, address));
      await page.context().close();
    }
    console.log(line(word, "empty", empty));
    console.log(line(word, "warm", warm));
  }
} finally {
  await browser.close();
}
