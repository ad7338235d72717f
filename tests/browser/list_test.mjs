import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { page, service, usePage } from "./support/mock_page.mjs";
import { rule, sampleJob } from "./support/sample_jobs.mjs";

const kNow = Date.now() * 1000;
const kClear = [rule("CPUBottleneck", "clear")];

usePage(() => {
  service.reset([
    sampleJob({ name: "mlp-demo", startedUs: kNow - 60e6, seconds: 60, status: "InProgress", group: "nightly" }),
    sampleJob({ name: "albef-1000", startedUs: kNow - 3600e6, seconds: 900, gpus: 16, nodes: 2, rules: kClear }),
    sampleJob({ name: "albef-1007", startedUs: kNow - 40 * 86400e6, seconds: 900, status: "Failed" }),
  ]);
});

const names = () => page.locator(".job-link").allTextContents();
async function open(query = "") {
  await page.goto(`${service.url}/jobs${query}`);
  await page.locator(".job-link, .empty, .notice").first().waitFor();
}
const until = (want) => page.waitForFunction((list) => JSON.stringify([...document.querySelectorAll(".job-link")].map((link) => link.textContent)) === list, JSON.stringify(want));

test("the list shows each job with its numbers in units", async () => {
  await open();
  const row = page.locator("tr", { hasText: "mlp-demo" });
  for (const text of ["InProgress", "(Training)", "1 node", "61 %", "41.2 ms", "DataloaderBottleneck"]) {
    assert.match(await row.textContent(), new RegExp(text.replace(/[()]/g, "\\$&")));
  }
  assert.match(await page.locator("tr", { hasText: "albef-1000" }).textContent(), /2 × 8 GPUs.*41 %/);
  assert.match(await page.locator(".list-note").textContent(), /^3 jobs · updated/);
  assert.equal(service.calls(/\/api\/v1\/jobs/).length, 1);
});

test("typing searches at the service, the link keeps it, Back undoes it", async () => {
  await open();
  await page.locator("#search").pressSequentially("albef", { delay: 20 });
  await until(["albef-1000", "albef-1007"]);
  await page.waitForURL(/\?q=albef$/);
  assert.ok(service.calls(/name_contains=/).length <= 2, "one call after the pause, not one for each letter");
  await page.goBack();
  await until(["mlp-demo", "albef-1000", "albef-1007"]);
  assert.equal(await page.locator("#search").inputValue(), "", "the field says what the link says");
});

test("what was typed does not follow the reader to another page", async () => {
  await open();
  await page.locator("#search").fill("albef");
  await page.evaluate(() => document.querySelector(".job-link").click());
  await page.waitForURL(/\/jobs\/mlp-demo$/);
  await page.waitForTimeout(400);
  assert.equal(new URL(page.url()).search, "");
});

test("filters by status, issue and time combine, and a reload shows the same", async () => {
  await open("?v=9");
  await page.getByLabel("Status").selectOption("Failed");
  await until(["albef-1007"]);
  await page.getByLabel("Status").selectOption("");
  await page.getByLabel("Issue").selectOption("DataloaderBottleneck");
  await until(["mlp-demo", "albef-1007"]);
  await page.getByLabel("Created").selectOption("now-7d");
  await until(["mlp-demo"]);
  assert.equal(new URL(page.url()).search, "?issue=DataloaderBottleneck&after=now-7d&v=9");
  await page.reload();
  await until(["mlp-demo"]);
});

test("a job that was not judged is shown and found as such, and is none without issues", async () => {
  const kRules = [rule("LowGPUUtilization", "unknown")];
  service.jobs = [
    sampleJob({ name: "bert-open", startedUs: kNow - 60e6, verdict: "unknown", rules: kRules }),
    sampleJob({ name: "bert-calm", startedUs: kNow - 90e6, rules: [rule("CPUBottleneck", "clear")] }),
  ];
  await page.goto(`${service.url}/jobs`);
  await until(["bert-open", "bert-calm"]);
  assert.match(await page.locator("tr", { hasText: "bert-open" }).textContent(), /not judged$/);
  assert.match(await page.locator("tr", { hasText: "bert-calm" }).textContent(), /no issues$/);
  await page.getByLabel("Issue").selectOption("not judged");
  await until(["bert-open"]);
  await page.getByLabel("Issue").selectOption("no issues");
  await until(["bert-calm"]);
});

test("a job that was sent after it had run says when it ran", async () => {
  const ran = Date.UTC(2026, 0, 5, 10, 30) * 1000;
  service.jobs = [{ ...sampleJob({ name: "replayed", startedUs: ran, seconds: 60 }), createdUs: kNow - 60e6 }, ...service.jobs];
  await open();
  assert.match(await page.locator("tr", { hasText: "replayed" }).textContent(), /ran 2026-01-05 10:30:00/);
  assert.doesNotMatch(await page.locator("tr", { hasText: "albef-1000" }).textContent(), /ran /);
  await page.getByRole("link", { name: "replayed" }).click();
  const facts = page.locator("section", { has: page.locator("#facts-title") });
  await facts.getByText(/, when it was sent$/).waitFor();
  await facts.getByText("The job was sent after it had run: its status changed when it was sent, not while it ran.").waitFor();
});

test("a cause that no other rule looks for is an issue", async () => {
  service.jobs = [sampleJob({ name: "bert-slow", startedUs: kNow - 60e6, rules: [rule("CPUBottleneck", "clear"), rule("ProfilerReport", "finding")] })];
  await page.goto(`${service.url}/jobs`);
  await until(["bert-slow"]);
  assert.match(await page.locator("tr", { hasText: "bert-slow" }).textContent(), /1bottleneck$/);
});

test("a line below the list leads to the jobs that were removed", async () => {
  await open();
  assert.equal(await page.locator(".removed").count(), 0, "nothing was removed");
  service.removed = [
    { name: "mlp-old", reason: "age", removed_us: kNow - 3600e6, rows: 48211, bytes: 73400320, ended_us: null },
    ...Array.from({ length: 59 }, (_, i) => ({ name: `big-${i}`, reason: i === 0 ? "deleted" : "size", removed_us: kNow - 86400e6 * (i + 2), rows: 1, bytes: 0, ended_us: kNow })),
  ];
  await page.reload();
  const line = page.locator(".removed summary");
  await line.waitFor();
  assert.equal(await line.textContent(), "60 jobs were removed");
  const rows = page.locator(".removed li");
  assert.equal(await rows.first().isVisible(), false);
  await line.click();
  assert.equal(await rows.count(), 50);
  assert.match(await page.locator(".removed p").textContent(), /The newest 50; all of them are at/);
  assert.match(await rows.nth(0).textContent(), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dmlp-old.*older than is kept.*48.211 rows, 70 MiB so far/);
  assert.match(await rows.nth(1).textContent(), /big-0.*deleted by somebody.*1 row, 0 B$/);
  assert.match(await rows.nth(2).textContent(), /all jobs took too much room/);
  await page.setViewportSize({ width: 390, height: 800 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the screen");
  await page.setViewportSize({ width: 1280, height: 900 });
});

test("a service that cannot say what was removed shows the list all the same", async () => {
  page.expected.push(/status of 500/);
  service.fail(/removals/);
  await open();
  assert.equal((await names()).length, 3);
  assert.equal(await page.locator(".removed, .notice").count(), 0);
});

test("the longest and those with most issues come first", async () => {
  await open();
  await page.locator("th").getByRole("link", { name: "Duration" }).click();
  await page.waitForURL(/\/jobs\?sort=-duration$/);
  await page.locator("th[aria-sort=descending]", { hasText: "Duration" }).waitFor();
  await page.locator("th").getByRole("link", { name: "Issues" }).click();
  await page.waitForURL(/\/jobs\?sort=-issues$/);
  await page.locator("th").getByRole("link", { name: "Issues" }).click();
  await page.waitForURL(/\/jobs\?sort=issues$/);
  for (let i = 0; i < 50 && !/sort=issues/.test(service.requests.at(-1)); i += 1) await page.waitForTimeout(100);
  assert.match(service.requests.at(-1), /^\/api\/v1\/jobs\?/);
});

const download = async (act) => {
  const [file] = await Promise.all([page.waitForEvent("download"), act()]);
  return [file.suggestedFilename(), readFileSync(await file.path(), "utf8")];
};

test("the file of the list has every job that matches, also those beyond the page", async () => {
  service.jobs = Array.from({ length: 1201 }, (_, i) => sampleJob({ name: `job-${i}`, startedUs: kNow - i * 1e6, status: i % 2 ? "Failed" : "Completed" }));
  await open("?cursor=50&sort=created&status=Failed,Completed");
  const [name, text] = await download(() => page.getByRole("button", { name: "CSV" }).click());
  assert.equal(name, "jobs.csv");
  const lines = text.split("\r\n");
  assert.deepEqual([lines.length, lines[0], lines[1], lines[501], lines[1201], lines[1202]], [1203, "name,status", "job-1200,Completed", "job-700,Completed", "job-0,Completed", ""]);
  assert.deepEqual(service.calls(/format=csv/), ["", "&cursor=500", "&cursor=1000"].map((cursor) => `/api/v1/jobs?status=Failed%2CCompleted&sort=created${cursor}&limit=500&format=csv`));
});

test("a long file says how far it is and can be stopped, and one that failed says why", async () => {
  page.expected.push(/status of 503/);
  service.jobs = Array.from({ length: 600 }, (_, i) => sampleJob({ name: `job-${i}`, startedUs: kNow - i * 1e6 }));
  service.fail(/cursor=500.*csv/, { status: 200, times: 1, delayMs: 2000 });
  await open();
  await page.getByRole("button", { name: "CSV" }).click();
  await page.getByText("500 of 600 jobs read …").waitFor();
  await page.getByRole("button", { name: "Stop CSV" }).click();
  await page.getByRole("button", { name: "CSV", exact: true }).waitFor();
  assert.equal(await page.locator(".csv [role=status]").textContent(), "");
  service.fail(/cursor=500.*csv/, { status: 503, times: 1 });
  await page.getByRole("button", { name: "CSV" }).click();
  await page.getByText("No file was made. The database is away: no connection within 3 s (HTTP 503, request 5f0c2b1a9d3e4f60).").waitFor();
});

test("days can be chosen one by one", async () => {
  await open();
  await page.getByLabel("Created").selectOption("between");
  const day = new Date(Date.now() - 30 * 86400e3).toISOString().slice(0, 10);
  await page.getByLabel("Until").fill(day);
  await until(["albef-1007"]);
  assert.match(page.url(), new RegExp(`before=${day}`));
});

test("columns sort both ways", async () => {
  await open();
  await page.getByRole("link", { name: "Name" }).click();
  await until(["albef-1000", "albef-1007", "mlp-demo"]);
  assert.equal(await page.locator("th[aria-sort]").getAttribute("aria-sort"), "ascending");
  await page.getByRole("link", { name: "Name" }).click();
  await until(["mlp-demo", "albef-1007", "albef-1000"]);
});

test("pages follow the cursor, and the first one is a click away", async () => {
  service.jobs = Array.from({ length: 120 }, (_, i) => sampleJob({ name: `job-${i}`, startedUs: kNow - i * 1e6, seconds: 60 }));
  await open();
  assert.equal((await names()).length, 50);
  assert.match(await page.locator(".list-note").textContent(), /^50 of 120 jobs/);
  await page.getByRole("link", { name: "Next page" }).click();
  await page.getByRole("link", { name: "job-50", exact: true }).waitFor();
  await page.getByRole("link", { name: "Next page" }).click();
  await page.getByRole("link", { name: "job-119", exact: true }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Next page" }).count(), 0);
  await page.getByRole("link", { name: "First page" }).click();
  await page.getByRole("link", { name: "job-0", exact: true }).waitFor();
});

test("new jobs wait for a click, rows that are shown are brought up to date in place", async () => {
  await page.clock.install();
  await open();
  service.jobs = [
    ...service.jobs.map((job) => (job.name === "mlp-demo" ? { ...job, status: "Completed", secondary: "Completed" } : job)),
    ...["new-1", "new-2", "new-3"].map((name) => sampleJob({ name, startedUs: kNow, seconds: 1 })),
  ];
  await page.clock.runFor(6000);
  const button = page.getByRole("button", { name: "3 new jobs · show" });
  await button.waitFor();
  assert.equal((await names())[0], "mlp-demo");
  await page.locator("tr", { hasText: "mlp-demo" }).getByText("Completed", { exact: true }).waitFor();
  await button.click();
  assert.equal((await names()).length, 6);
});

test("a job that no longer matches or was deleted says so, and no clock runs on", async () => {
  await page.clock.install();
  service.jobs = [...service.jobs, sampleJob({ name: "mlp-other", startedUs: kNow - 90e6, seconds: 90, status: "InProgress" })];
  await open("?status=InProgress");
  await until(["mlp-demo", "mlp-other"]);
  service.jobs = service.jobs.filter(({ name }) => name !== "mlp-other").map((job) => (job.name === "mlp-demo" ? { ...job, status: "Failed", secondary: "Failed" } : job));
  await page.clock.runFor(6000);
  await page.locator("tr", { hasText: "mlp-demo" }).getByText("no longer matches").waitFor();
  assert.match(await page.locator("tr", { hasText: "mlp-demo" }).textContent(), /Failed.*1 m 00 s/);
  assert.match(await page.locator("tr", { hasText: "mlp-other" }).textContent(), /Deleted.*–/);
  assert.match(await page.locator(".list-note").textContent(), /^0 jobs/);
  await page.getByRole("button", { name: "2 jobs no longer in this list · show" }).click();
  await page.getByRole("heading", { name: /No job matches status InProgress/ }).waitFor();
});

test("the first start says how to send a job", async () => {
  service.jobs = [];
  await open();
  await page.getByRole("heading", { name: "No jobs yet" }).waitFor();
  const lines = await page.locator(".empty pre").textContent();
  assert.match(lines, new RegExp(`stepscope-agent run --server ${service.url} --job \\S+ -- python`));
});

test("no hit says what was looked for and clears in one click", async () => {
  await open("?q=nothing&status=Failed");
  await page.getByRole("heading", { name: "No job matches a name with “nothing”, status Failed" }).waitFor();
  await page.getByRole("link", { name: "Clear the filters" }).click();
  await until(["mlp-demo", "albef-1000", "albef-1007"]);
  assert.equal(new URL(page.url()).search, "");
});

test("an error names status and request, and retry brings the list", async () => {
  page.expected.push(/status of 503/);
  service.fail(/\/api\/v1\/jobs/, { status: 503, times: 1 });
  await open();
  const notice = page.locator(".notice");
  assert.match(await notice.textContent(), /could not be loaded.*database is away.*HTTP 503, request 5f0c2b1a9d3e4f60/s);
  await page.getByRole("button", { name: "Retry now" }).click();
  await until(["mlp-demo", "albef-1000", "albef-1007"]);
  assert.equal(await notice.count(), 0);
});

test("when the service goes away the last list stays, marked, and comes back by itself", async () => {
  page.expected.push(/ERR_|status of 500/);
  await page.clock.install();
  await open();
  await page.route(/\/api\/v1\/jobs/, (route) => route.abort("connectionrefused"), { times: 1 });
  await page.clock.runFor(6000);
  await page.getByText("not up to date").waitFor();
  assert.match(await page.locator(".notice").textContent(), /cannot be reached.*Last answer/s);
  assert.equal((await names()).length, 3);
  await page.clock.runFor(3000);
  await page.locator(".notice").waitFor({ state: "detached" });
});

test("a page whose program could not be loaded is asked for again, and comes", async () => {
  page.expected.push(/ERR_/);
  await open();
  await page.route(/assets\/page-.*js$/, (route) => route.abort("connectionrefused"));
  await page.getByRole("link", { name: "mlp-demo" }).click();
  await page.getByText("A part of this page could not be loaded yet").waitFor();
  await page.unroute(/assets\/page-.*js$/);
  await page.getByRole("heading", { name: "mlp-demo" }).waitFor({ timeout: 15_000 });
  await page.locator(".stages").waitFor({ timeout: 15_000 });
  await page.locator(".fault-bar").waitFor({ state: "detached", timeout: 15_000 });
});

test("a slow service shows blocks at once and words after a while", async () => {
  service.fail(/\/api\/v1\/jobs/, { status: 200, times: 1, delayMs: 2500 });
  await page.goto(`${service.url}/jobs`);
  await page.getByText("Loading the jobs …").waitFor();
  await until(["mlp-demo", "albef-1000", "albef-1007"]);
});

test("with the keyboard alone: search, walk, open, come back", async () => {
  await open();
  await page.keyboard.press("/");
  await page.keyboard.type("albef");
  await until(["albef-1000", "albef-1007"]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "albef-1000");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/jobs\/albef-1000/);
  await page.getByRole("heading", { name: "albef-1000" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("j");
  await page.waitForURL(/\/jobs$/);
});

/** Where the reader is: how far down, and what has the focus. */
const spot = () => page.evaluate(() => [Math.round(scrollY), document.activeElement.textContent]);
const isAt = ([top, focus]) => page.waitForFunction(([y, text]) => Math.abs(scrollY - y) < 2 && document.activeElement.textContent === text, [top, focus]);

test("Space ticks the job of a row and does not scroll, also in cards", async () => {
  service.jobs = Array.from({ length: 50 }, (_, i) => sampleJob({ name: `job-${i}`, startedUs: kNow - i * 1e6, seconds: 60 }));
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await open();
    await page.keyboard.press("j");
    await page.keyboard.press("Space");
    await page.getByText("Tick a second job to compare it with job-0").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Space");
    assert.ok(await page.getByLabel("Compare job-2", { exact: true }).isChecked());
    await page.getByRole("link", { name: "Compare job-0 with job-2" }).waitFor();
    await page.keyboard.press("Space");
    await page.getByText("Tick a second job to compare it with job-0").waitFor();
    assert.deepEqual(await spot(), [0, "job-2"]);
    await page.keyboard.press("?");
    assert.match(await page.getByRole("dialog").textContent(), /SpaceTick the job for a comparison/);
  }
});

test("Back leads to the place of the list that was left, and to its row", async () => {
  service.jobs = Array.from({ length: 50 }, (_, i) => sampleJob({ name: `job-${i}`, startedUs: kNow - i * 1e6, seconds: 60 }));
  await open();
  const link = page.getByRole("link", { name: "job-40", exact: true });
  await link.scrollIntoViewIfNeeded();
  await link.focus();
  const left = await spot();
  assert.ok(left[0] > 500);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "job-40" }).waitFor();
  assert.equal((await spot())[0], 0);
  service.fail(/\/api\/v1\/jobs\?/, { status: 200, times: 1, delayMs: 700 });
  await page.goBack();
  await isAt(left);
  // A reader who does something before the list has come is not taken elsewhere.
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "job-40" }).waitFor();
  service.fail(/\/api\/v1\/jobs\?/, { status: 200, times: 1, delayMs: 2000 });
  await page.goBack();
  await page.getByRole("heading", { name: "Training jobs" }).waitFor();
  await page.keyboard.press("Tab");
  await link.waitFor();
  await page.waitForTimeout(200);
  assert.notEqual((await spot())[1], "job-40");
});

test("keys are listed, and can be switched off", async () => {
  await open();
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog");
  assert.match(await dialog.textContent(), /Search by name/);
  await dialog.getByRole("checkbox").uncheck();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("/");
  assert.notEqual(await page.evaluate(() => document.activeElement.id), "search");
});

test("names from outside stay text", async () => {
  const evil = '<img src=x onerror="window.hit=1">';
  service.jobs = [
    sampleJob({ name: "evil", group: evil, startedUs: kNow, seconds: 5, rules: [rule(`"><script>window.hit=1</script>`, "finding")] }),
    sampleJob({ name: `</a>${evil}`, startedUs: kNow - 1e6, seconds: 5 }),
  ];
  await open();
  assert.equal(await page.locator(".group").textContent(), evil);
  assert.deepEqual(await names(), ["evil", `</a>${evil}`]);
  assert.equal(await page.evaluate(() => window.hit), undefined);
  assert.equal(await page.locator("main img, main script").count(), 0);
});

test("long names make no page wider than the screen, and push no column out", async () => {
  const long = (end) => `${"a-name-without-an-end".padEnd(52, "x")}${end}`;
  service.jobs = ["1", "2"].map((end) => sampleJob({ name: long(end), group: long("g"), startedUs: kNow - 60e6 }));
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  await open();
  assert.ok(await page.evaluate(() => document.querySelector(".table-card").scrollWidth <= document.querySelector(".table-card").clientWidth), "the table fits");
  await page.setViewportSize({ width: 390, height: 800 });
  for (const end of ["1", "2"]) await page.getByLabel(`Compare ${long(end)}`).check();
  assert.ok(await fits(), "the list");
  await page.getByRole("link", { name: /^Compare a-name/ }).click();
  await page.locator(".fleet-legend").first().waitFor();
  assert.ok(await fits(), "the comparison");
  await page.goto(`${service.url}/jobs/${long("1")}?tz=local`);
  assert.match(await page.locator(".job-facts time").textContent(), / local$/);
  assert.ok(await fits(), "the job");
});
