import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { pixelsNear } from "./support/chromium.mjs";
import { page, service, usePage } from "./support/mock_page.mjs";
import { rule, sampleDiagnosis, sampleJob } from "./support/sample_jobs.mjs";

const kStart = Math.floor(Date.now() / 1000 - 3600) * 1e6;
const kBlue = "#0b5cad";

usePage(() => service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 120 })]));

/** Opens a part of a job's page and waits for its charts. */
async function open(query = "", name = "mlp-demo", tab = "") {
  await page.goto(`${service.url}/jobs/${encodeURIComponent(name)}${tab && `/${tab}`}${query}`);
  await page.locator("#chart-steps").waitFor();
  if (tab !== "steps") await page.locator("#chart-cpu").waitFor();
}
const openPart = (tab, query = "") => open(query, "mlp-demo", tab);
async function openRules() {
  await page.goto(`${service.url}/jobs/mlp-demo/rules`);
  await page.locator(".rule").first().waitFor();
}
const chart = (id) => page.locator(".chart", { has: page.locator(`#chart-${id}`) });
const plot = (id) => chart(id).locator(".plot");
const runningJob = (seconds, more = {}) =>
  sampleJob({ name: "mlp-demo", startedUs: Date.now() * 1000 - seconds * 1e6, seconds, status: "InProgress", ...more });

test("the rules of a job: trouble first, unknown grey with the reason", async () => {
  await openRules();
  const rules = page.locator(".rule");
  assert.match(await rules.nth(0).textContent(), /IssuesFound.*DataloaderBottleneck.*waited for data in 63 %.*in 62 % of the time that it could judge · high severity · to the end/s);
  const last = rules.nth(3);
  assert.match(await last.textContent(), /LowGPUUtilization.*Not judged: no GPU on any node/s);
  assert.match(await last.locator(".status").getAttribute("class"), /tone-grey/);
  assert.match(await page.locator(".section-head", { has: page.locator("#rules-title") }).textContent(), /1 of 4 rules found issues · 1 not judged/);
  assert.ok(!(await last.isVisible()), "what was not judged is folded away");
  await page.getByText("1 rule not judged").click();
  assert.ok(await last.isVisible());
});

test("the verdict comes first: what holds the job up in a sentence, what to do, and what it would gain", async () => {
  await open();
  const card = page.locator("section", { has: page.locator("#diagnosis-title") });
  assert.equal(await card.getByRole("heading").first().textContent(), "63 % of the training’s time was lost to preprocessing.");
  assert.match(await card.textContent(), /What to do: Use more data-loader workers\. Without this time the training would be up to 2\.7 times as fast\./);
  assert.match(await card.textContent(), /Then, for checkpoints and logs, 11 %: Write checkpoints less often\. Without this time .* 1\.12 times as fast/);
  const bottom = (await card.locator(".stages").boundingBox()).y + (await card.locator(".stages").boundingBox()).height;
  assert.ok(bottom < 900, `above the fold: ${bottom}`);
  await card.getByText("All causes").click();
  assert.deepEqual(await card.locator(".budget li").allTextContents(), ["Computing26 %", "Preprocessing63 %", "Checkpoints and logs11 %"]);
  const [all, lost] = [await card.locator(".budget .budget-all").nth(1).boundingBox(), await card.locator(".budget .budget-lost").nth(0).boundingBox()];
  assert.ok(Math.abs(lost.width / all.width - 0.63) < 0.01, `${lost.width} of ${all.width}`);
});

test("eight stages are one picture and text, the suspect is named, and each leads to its evidence", async () => {
  await open("?tz=utc");
  const stages = page.getByRole("list", { name: /eight stages/ }).locator("li");
  assert.equal(await stages.count(), 8);
  assert.match(await stages.nth(1).textContent(), /^2 Prepare batches.*63 %data pipeline: 63 % lost to preprocessing, suspect: data pipeline\. Show the evidence$/);
  assert.match(await stages.nth(3).textContent(), /26 % computing/);
  assert.match(await stages.nth(0).textContent(), /nothing lost/);
  const [lost, all] = [await stages.nth(1).locator(".budget-lost").boundingBox(), await stages.nth(1).locator(".budget-all").boundingBox()];
  assert.ok(Math.abs(lost.height / all.height - 0.63) < 0.02, `${lost.height} of ${all.height}`);
  await stages.nth(1).getByRole("link").click();
  await page.waitForURL(/\/jobs\/mlp-demo\/steps\?show=phases&tz=utc$/);
  await page.locator(".chart-chosen #chart-phases").waitFor();
});

test("without a bottleneck the verdict says so, with what was computing", async () => {
  const budget = [{ ...sampleDiagnosis.budget[0], share: 0.95 }, { ...sampleDiagnosis.budget[1], share: 0.05 }];
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, diagnosis: { ...sampleDiagnosis, budget } })]);
  await open();
  assert.equal(await page.locator("#diagnosis-title").textContent(), "No bottleneck is seen: 95 % of the training’s time was computing.");
  assert.equal(await page.locator(".stage-suspect, .advice p").count(), 0);
});

const kParts = (more = {}) => ({ ...sampleDiagnosis, ...more });

test("the phases of the job are one bar at its head, with their lengths in words", async () => {
  await open();
  const bar = page.getByRole("region", { name: "Phases of the job" });
  assert.equal(await bar.getByRole("img").getAttribute("aria-label"), "Initialisation 12.0 s, Training 1 m 36 s, Evaluation 8.00 s, Finalisation 4.00 s");
  assert.deepEqual(await bar.locator("li").allTextContents(), ["Initialisation 12.0 s", "Training 1 m 36 s", "Evaluation 8.00 s", "Finalisation 4.00 s"]);
  const widths = await bar.locator("rect").evaluateAll((rects) => rects.map((rect) => rect.getBoundingClientRect().width));
  assert.ok(Math.abs(widths[1] / widths.reduce((sum, width) => sum + width, 0) - 0.8) < 0.02, `${widths}`);
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, diagnosis: kParts({ parts: { initialisation: 0, training: 0, evaluation: 0, finalisation: 0 } }) })]);
  await page.reload();
  await page.locator("#chart-cpu").waitFor();
  assert.equal(await bar.count(), 0, "no step was seen: nothing is known");
});

test("the diagnosis says by whose clock, how much is named, and what is not seen", async () => {
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, diagnosis: kParts({ missing: ["No training process has reported a step."] }) })]);
  await open();
  const card = page.locator("section", { has: page.locator("#diagnosis-title") });
  await card.getByText("All causes").click();
  assert.match(await card.textContent(), /Measured by the host’s clock\. Phases with a name cover 98 % of the step time\./);
  assert.match(await card.textContent(), /What is not seen/);
  assert.deepEqual(await card.locator(".missing li").allTextContents(), ["No training process has reported a step."]);
});

test("what nodes and ranks say of themselves stands where they are described", async () => {
  service.reset([sampleJob({
    name: "mlp-demo", startedUs: kStart, nodeFacts: { hooks_missing: "the package was not found" },
    rankFacts: { loader_thread: "another", gpu_clock: "off: no CUDA" },
  })]);
  await open();
  const card = page.locator(".facts");
  assert.match(await card.locator("tbody td").last().textContent(), /^steps: the package was not found; gpu: /);
  assert.deepEqual(await card.locator(".missing li").allTextContents(), [
    "Rank 0: another thread reads the batches, so waits for data are not seen.", "Rank 0: the GPU’s own clock: off: no CUDA.",
  ]);
});

test("the GPU's own time and its phases are drawn where they are known", async () => {
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, gpuIdle: 0.012, shares: { data: 0.5, sync: 0.09, device_to_host: 0.04 } })]);
  await openPart("steps");
  assert.deepEqual(await chart("steps").locator(".legend-label").allTextContents(), ["Whole step", "Waiting for data", "GPU idle before the step"]);
  const names = await chart("phases").locator(".legend-label").allTextContents();
  for (const name of ["Waits for the GPU", "Copies from the GPU"]) assert.ok(names.includes(name), names.join());
  assert.ok((await pixelsNear(page, "phases", "#8890d0")) > 20);
});

test("without a diagnosis there is none, and the rule that sums up is not counted", async () => {
  service.jobs = [sampleJob({ name: "mlp-demo", startedUs: kStart, diagnosis: null, rules: [rule("DataloaderBottleneck", "finding"), rule("ProfilerReport", "finding")] })];
  await open();
  assert.equal(await page.locator("#diagnosis-title").textContent(), "No verdict");
  assert.match(await page.locator(".section-head").textContent(), /1 of 1 rule found issues/);
  assert.equal(await page.locator(".issue").count(), 1);
});

test("a job that was not judged says so, not that it has no issues", async () => {
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, diagnosis: null, verdict: "unknown", rules: [rule("LowGPUUtilization", "unknown"), rule("CPUBottleneck", "unknown")] })]);
  await open();
  assert.match(await page.locator(".section-head").textContent(), /Not judged: too little was seen · 2 of 2 rules not judged/);
  assert.match(await page.locator(".figures").textContent(), /Issuesnot judged/);
});

test("every chart is drawn, with one call for all metrics", async () => {
  await openPart("system");
  for (const id of ["steps", "cpu", "memory", "disk", "network", "pressure", "load"]) {
    await plot(id).locator("canvas").waitFor();
    assert.ok((await pixelsNear(page, id, kBlue)) > 100, `${id} has its line`);
  }
  assert.ok((await pixelsNear(page, "cpu", "#8a5300")) > 20, "the threshold of CPUBottleneck is drawn");
  assert.equal(service.calls(/\/metrics\?metric=/).length, 1);
  await page.waitForLoadState("networkidle");
  assert.equal(service.calls(/\/api\//).length, 9, "who asks, the job, its rules, metrics, steps, metrics of its own and three lists of marks");
  assert.equal(service.sent.filter((url) => url.includes("/api/")).length, 2, "in two requests");
});

test("the overview asks for the job, its rules, samples of three charts, steps, and the marks of the strip", async () => {
  await open();
  await page.locator("#facts-title").waitFor();
  assert.equal(service.calls(/\/api\//).length, 8, `${service.calls(/\/api\//)}`);
  assert.equal(service.sent.filter((url) => url.includes("/api/")).length, 2, "in two requests");
  assert.equal(await page.locator(".chart").count(), 3, "steps, CPU and memory of a node without GPUs");
});

test("what the GPUs of a job tell has its charts", async () => {
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, gpus: 4 })]);
  await openPart("system");
  for (const id of ["gpu", "gpumem", "gpupower", "gpuslow", "gpupcie", "gpunvlink"]) await plot(id).locator("canvas").waitFor();
  assert.ok((await pixelsNear(page, "gpupower", kBlue)) > 50, "it has its line");
  assert.match(await chart("gpupower").textContent(), /GPU power/);
  assert.equal(await chart("gpuwork").count(), 0, "no GPU says how much of it was at work");
});

test("fabric, file servers, control groups and the processes of the ranks have charts where there are any", async () => {
  await openPart("system");
  for (const id of ["rdma", "nfs", "rankmemory", "groupmemory"]) assert.equal(await chart(id).count(), 0, `${id}: no node has it`);
  await plot("processes").locator("canvas").waitFor();
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, gpus: 4 })]);
  await openPart("system");
  for (const id of ["rdma", "nfs", "processes", "available", "rankmemory", "groupmemory", "groupcpu", "groupio"]) {
    await plot(id).locator("canvas").waitFor();
    assert.ok((await pixelsNear(page, id, kBlue)) > 50, `${id} has its line`);
  }
  assert.match(await chart("rdma").textContent(), /InfiniBand, RoCE.*sum of 2 ports/s);
  assert.match(await chart("nfs").textContent(), /\/data/);
});

test("an agent that keeps its own interval is named, with the reason", async () => {
  const last_command = { command: "interval-1", outcome: "refused", reason: "started with --allow none" };
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, nodeFacts: { last_command } })]);
  await open();
  assert.match(await page.locator(".facts").textContent(), /Change refused.*host-1: started with --allow none/s);
});

test("whose job it is, and what its agent reads seldom, stand beside its nodes", async () => {
  await open();
  assert.doesNotMatch(await page.locator(".facts").textContent(), /User|Account|Read seldom/);
  const read_seldom = [{ source: "gpu: PCIe <bytes>", period_s: 60 }, { source: 7 }, null];
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, nodeFacts: { user: "ann", account: "physics", read_seldom } })]);
  await open();
  assert.match(await page.locator(".facts").textContent(), /Userann.*Accountphysics.*Read seldom.*gpu: PCIe <bytes>: every 1 m 00 s/s);
  assert.equal(await page.locator(".facts").getByRole("link", { name: "ann" }).getAttribute("href"), "/fleet?by=job&user=ann");
});

test("a node whose clock is off says so beside it", async () => {
  const clockSuspect = { since: "2026-11-20T20:13:40.000000Z", since_us: 1795205620000000, until: null, until_us: null, offset_us: -86400e6 };
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, nodes: 2, clockSuspect })]);
  await open();
  const rows = page.getByRole("region", { name: "Nodes" }).locator("tbody tr");
  assert.match(await rows.nth(0).textContent(), /1 d 00 h ahead: it is off since 2026-11-20 20:13:40 UTC, its times are as its agent said/);
  assert.doesNotMatch(await rows.nth(1).textContent(), /off since/);
});

test("why a node has no GPU is said as text, beside the node", async () => {
  await open();
  const row = page.getByRole("region", { name: "Nodes" }).locator("tbody tr");
  assert.match(await row.locator("td").last().textContent(), /^gpu: no GPU: libnvidia-ml\.so\.1 not found; no AMD or Intel card$/);
});

test("of a large job the service folds the series, and some ranks are read", async () => {
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, nodes: 64, gpus: 512, ranks: 512 })]);
  await openPart("system");
  for (const id of ["steps", "cpu", "memory", "disk"]) {
    await plot(id).locator("canvas").waitFor();
    assert.ok((await pixelsNear(page, id, kBlue)) > 50, `${id} has its line`);
  }
  assert.match(await chart("gpu").textContent(), /Mean of 512 GPUs/);
  assert.match(await chart("disk").textContent(), /sum of 64 disks/);
  assert.equal(service.calls(/\/metrics\?metric=.*fold=metric/).length, 1);
  assert.equal(service.calls(/\/steps\?most=1$/).length, 1, "one rank is drawn");
  const choice = page.locator(".rank-choice");
  assert.doesNotMatch(await choice.textContent(), /ranks read/);
  await choice.locator("select").selectOption("300");
  await chart("steps").getByText(/rank 300 on host-1/).waitFor();
  assert.equal(service.calls(/\/steps\?rank=300/).length, 1);
  assert.doesNotMatch(await page.locator("main").textContent(), /nodes have samples/);
  await openPart("steps");
  await choice.getByText("8 of 512 ranks read").waitFor();
  assert.equal(service.calls(/\/steps\?most=8$/).length, 1);
  await open();
  assert.ok((await page.getByRole("region", { name: "Nodes" }).boundingBox()).height < 460, "64 nodes scroll in their own box");
});

test("what the address tells is asked for ahead, and nothing of a finished job twice", async () => {
  await open();
  await page.waitForLoadState("networkidle");
  const asked = service.calls(/\/api\/v1\/jobs\/mlp-demo/).map((url) => url.replace(/.*mlp-demo/, "").replace(/\?metric=.*/, ""));
  assert.deepEqual(asked.slice(0, 3).sort(), ["", "/rules", "/steps?most=1"]);
  assert.deepEqual(asked.sort(), ["", "/events?limit=200", "/findings?limit=500", "/metrics", "/rules", "/steps?most=1", "/windows?limit=100"]);
});

const kYellow = "#b67a20";
const kLineGrey = "#e1e5ea";

test("all phases that occur are drawn along the job, with their names, numbers and rows", async () => {
  await openPart("steps");
  await plot("phases").locator("canvas").waitFor();
  for (const colour of [kBlue, kYellow, "#e0347f", "#841812", "#2b1038", kLineGrey]) {
    assert.ok((await pixelsNear(page, "phases", colour)) > 20, colour);
  }
  const legend = chart("phases").locator(".legend li");
  assert.deepEqual(await legend.locator(".legend-label").allTextContents(), [
    "Data", "Transfer", "Forward", "Loss", "Backward", "Communication", "Optimizer", "Checkpoint", "Unnamed",
  ]);
  assert.match(await legend.nth(0).textContent(), /^Data 63 %$/);
  assert.equal(await legend.locator(".swatch-striped").count(), 3, "transfer, loss and communication");
  assert.match(await chart("phases").locator(".summary").textContent(), /^Most of the time: Data 63 %, Backward 13 %, Forward 9\.0 %\.$/);
  await chart("phases").getByRole("button", { name: /^Table/ }).click();
  const rows = chart("phases").locator("tbody tr");
  assert.match(await rows.nth(0).textContent(), /63 %2\.0 %9\.0 %1\.0 %13 %3\.0 %4\.0 %3\.0 %2\.0 %$/);
});

test("the histogram has a bar for each bin that is not empty, a sentence, and rows", async () => {
  await openPart("steps");
  await chart("histogram").locator("svg").waitFor();
  const heights = await chart("histogram").locator(".bars-bar").evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().height));
  assert.equal(heights.length, 2);
  assert.ok(heights[0] > 10 * heights[1] && heights[1] >= 2, `${heights}`);
  const sentence = /^95 % of 2.400 steps took 30\.0 ms to 50\.0 ms; half took at most 41\.2 ms, 99 % at most 71\.0 ms, the longest 74\.0 ms\.$/;
  assert.match(await chart("histogram").locator(".summary").textContent(), sentence);
  assert.match(await chart("histogram").locator("svg").getAttribute("aria-label"), sentence);
  await chart("histogram").getByRole("button", { name: /^Table/ }).click();
  assert.deepEqual(await chart("histogram").locator("tbody tr").allTextContents(), ["30.0 ms to 50.0 ms2\u202f280", "50.0 ms to 80.0 ms120"]);
});

const kEvaluation = {
  name: "evaluation", count: 1200, total_seconds: 12, mean_seconds: 0.01, min_seconds: 0.0042, max_seconds: 0.4,
  histogram: { edges_seconds: [0.004194304, 0.00524288, 0.006291456, 0.4], counts: [1000, 0, 200] },
};
const kOld = { ...kEvaluation, name: "<b>old</b>", count: 2, total_seconds: 0.0084, histogram: { edges_seconds: [], counts: [] } };

test("annotations of a rank are rows, the longest first, each with how its times are spread", async () => {
  await openPart("steps");
  await page.locator("#ranks-title").waitFor();
  assert.equal(await page.locator(".annotations").count(), 0, "without annotations there is no section");
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 120, annotations: [kOld, kEvaluation] })]);
  await openPart("steps");
  const rows = page.locator(".annotations tbody tr");
  await rows.nth(1).waitFor();
  assert.match(await rows.nth(0).locator("th, td:nth-child(-n+7)").allTextContents().then((cells) => cells.join("|")),
    /^evaluation\|1\u202f200\|12\.0 s\|12 %\|4\.20 ms\|10\.0 ms\|400 ms$/);
  const spread = rows.nth(0).locator("svg");
  assert.equal(await spread.getAttribute("aria-label"), "evaluation: most often 4.19 ms to 5.24 ms, 1\u202f000 of 1\u202f200 times");
  const heights = await spread.locator("rect").evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("height"))));
  assert.deepEqual(heights, [26, 0, 5.2]);
  assert.match(await rows.nth(1).textContent(), /^<b>old<\/b>2.*–Large/, "an older agent's have no bins");
});

test("each chart has a sentence with its numbers, tied to it", async () => {
  await open();
  const id = await plot("cpu").getAttribute("aria-describedby");
  assert.match(await page.locator(`#${id}`).textContent(), /^In use: mean 5\d %, above 90 % for 0 % of the time, highest 98 % at [\d:]+( s)?;/);
});

test("a gap stays a gap", async () => {
  service.jobs = [sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 120, gap: [40, 80] })];
  await open();
  assert.match(await chart("cpu").locator(".summary").textContent(), /nothing measured for 4[01]\.\d s/);
  const blank = await plot("memory").evaluate((box) => {
    const canvas = box.querySelector("canvas");
    const over = box.querySelector(".u-over").getBoundingClientRect();
    const left = over.left - canvas.getBoundingClientRect().left;
    const scale = canvas.width / canvas.clientWidth;
    const column = canvas.getContext("2d").getImageData(Math.round((left + over.width / 2) * scale), 0, 1, Math.round((over.height + 8) * scale)).data;
    for (let i = 0; i < column.length; i += 4) if (column[i] < 60 && column[i + 3] > 200) return false;
    return true;
  });
  assert.ok(blank, "no line is drawn where nothing was measured");
});

test("dragging zooms all charts by the link, Back undoes one zoom, 0 shows all", async () => {
  await open();
  await plot("cpu").scrollIntoViewIfNeeded();
  const box = await plot("cpu").locator(".u-over").boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 50, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/from=\d+&to=\d+/);
  const zoom = new URL(page.url()).searchParams;
  assert.ok(Math.abs(Number(zoom.get("from")) - 30_000) < 1500, zoom.get("from"));
  assert.ok(Math.abs(Number(zoom.get("to")) - 60_000) < 1500, zoom.get("to"));
  await page.waitForFunction(() => document.querySelectorAll(".toolbar-span")[0].textContent.startsWith("30 s") || !/Whole/.test(document.querySelector(".toolbar-span").textContent));
  await page.waitForTimeout(0);
  assert.ok(service.calls(/metrics\?.*from_us=/).length <= 1, "one call, not one for each chart");
  await page.goBack();
  await page.getByText("Whole job,").waitFor();
  await page.goForward();
  await page.getByText("Whole job,").waitFor({ state: "detached" });
  await page.keyboard.press("0");
  await page.getByText("Whole job,").waitFor();
});

test("a link to a zoom opens it", async () => {
  await open("?from=20000&to=40000");
  assert.match(await page.locator(".toolbar-span").textContent(), /^20 s to 40 s$/);
  assert.match(await chart("cpu").locator(".summary").textContent(), /mean/);
  assert.match(await page.locator(".figures").textContent(), /CPU\d+ %mean in view.*Step p5041\.2 msin all/s, "which numbers follow the zoom is said");
  await page.getByRole("button", { name: "Zoom out" }).click();
  assert.match(await page.locator(".toolbar-span").textContent(), /^10 s to 50 s$/);
});

test("the cursor walks with the keys and its values are said", async () => {
  await open();
  await plot("cpu").focus();
  await page.keyboard.press("Home");
  const first = await plot("cpu").getAttribute("aria-valuetext");
  assert.match(first, /^0\.0 s: In use 55 % \(5\.0 % to 98 %\), I\/O wait 8\.0 %$/);
  await page.keyboard.press("Shift+ArrowRight");
  assert.match(await plot("cpu").getAttribute("aria-valuetext"), /^5\.0 s: /);
  assert.match(await chart("memory").locator(".legend").textContent(), /\(/, "the cursor is on all charts at once");
  await page.keyboard.press("+");
  await page.waitForURL(/from=/);
});

test("the table has the same numbers, and CSV has all of them", async () => {
  await open();
  await page.getByRole("button", { name: "Table of Memory" }).click();
  const table = page.getByRole("region", { name: "Memory as a table" });
  assert.deepEqual(await table.locator("thead th").allTextContents(), ["Time", "In use", "In use, lowest", "In use, highest"]);
  assert.match(await table.locator("tbody tr").nth(0).textContent(), /^0\.0 s22 %20 %45 %$/);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV of Memory" }).click()]);
  assert.equal(download.suggestedFilename(), "mlp-demo-memory.csv");
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
  assert.equal(lines[0], 'time,"In use (%)","In use, lowest (%)","In use, highest (%)"');
  assert.equal(lines.length, 242);
});

test("a running job is followed by the cursor, hover does not pause it", async () => {
  service.jobs = [runningJob(60)];
  await page.clock.install();
  await open();
  assert.match(await page.locator(".toolbar-span").textContent(), /0 s to 1:00/);
  const box = await plot("cpu").locator(".u-over").boundingBox();
  await page.mouse.move(box.x + 100, box.y + 50);
  service.jobs[0].seconds = 75;
  await page.clock.runFor(2500);
  await page.getByText("0 s to 1:15").waitFor();
  assert.ok(service.calls(/metrics\?.*since=/).length >= 1);
  assert.equal(service.calls(/metrics\?metric=.*points=/).length, 1, "only what is new is asked for");
});

test("where too much has come since, all is asked for again", async () => {
  service.jobs = [runningJob(60)];
  await page.clock.install();
  await open();
  page.expected.push(/status of 400/);
  service.fail(/metrics\?.*since=/, { status: 400, times: 1, words: ["Invalid query", "since: is too old; ask again without it"] });
  service.jobs[0].seconds = 75;
  await page.clock.runFor(2500);
  await page.getByText("0 s to 1:15").waitFor();
  assert.equal(service.calls(/metrics\?metric=.*points=/).length, 2);
});

test("following costs six requests in ten seconds at most, pausing and finishing cost none", async () => {
  service.jobs = [runningJob(60)];
  await page.clock.install();
  await open();
  const count = async (ms) => {
    const sent = () => service.sent.filter((url) => url.includes("/api/")).length;
    const from = sent();
    for (let at = 0; at < ms; at += 500) {
      await page.clock.runFor(500);
      await page.evaluate(() => fetch("/assets/none").catch(() => {}));
    }
    return sent() - from;
  };
  page.expected.push(/404/);
  await page.waitForLoadState("networkidle"); // what opening the page asked for does not count
  const followed = await count(20_000);
  assert.ok(followed > 0 && followed <= 12, `${followed} requests in 20 s`);
  await page.keyboard.press("L");
  await page.getByRole("button", { name: /Paused/ }).waitFor();
  await count(5000);
  const paused = service.calls(/metrics|steps/).length;
  await count(10_000);
  assert.equal(service.calls(/metrics|steps/).length, paused);
  await page.keyboard.press("L");
  Object.assign(service.jobs[0], { status: "Completed", secondary: "Completed", seconds: 80 });
  await count(10_000);
  await page.getByText("Finished").waitFor();
  assert.equal(await count(15_000), 0);
});

test("a silent node is named", async () => {
  service.jobs = [runningJob(60, { startedUs: Date.now() * 1000 - 200e6 })];
  service.jobs[0].startedUs = Date.now() * 1000 - 200e6;
  await open();
  const chip = page.locator(".chip-red");
  assert.match(await chip.textContent(), /^host-1 silent for \d+ m \d\d s$|^host-1 silent for \d+ s$/);
  for (const [zone, word] of [["utc", "UTC"], ["local", "local"]]) {
    await page.getByLabel("Times").selectOption(zone);
    await page.waitForFunction((text) => document.querySelector(".chip-red").textContent.endsWith(text), word);
    assert.match(await chip.textContent(), /^host-1 silent since \d\d:\d\d:\d\d (UTC|local)$/);
  }
});

test("a failed job shows the last lines it wrote", async () => {
  service.jobs = [sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 20, status: "Failed",
    failure: { node: "host-1", exit_code: 1, signal: null, output: ["Traceback:", "RuntimeError: <b>nan</b>"] } })];
  await open();
  await page.getByRole("heading", { name: "The command on host-1 ended with exit code 1" }).waitFor();
  assert.equal(await page.locator(".failure pre").textContent(), "Traceback:\nRuntimeError: <b>nan</b>");
  const reason = "the kernel killed 1 process of its control group for want of memory";
  service.jobs = [sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 20, status: "Failed",
    failure: { node: "host-1", exit_code: null, signal: 9, reason, output: null } })];
  await page.goto("about:blank");
  await open();
  await page.getByText(reason).waitFor();
  await page.getByText("Its last words are not known").waitFor();
});

test("no samples yet: says what is awaited; no steps: says how to send them", async () => {
  service.jobs = [runningJob(5, { silent: true })];
  await page.goto(`${service.url}/jobs/mlp-demo`);
  await page.getByRole("heading", { name: "Waiting for the first sample from host-1" }).waitFor();
  service.jobs = [sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 20, steps: false })];
  await open();
  assert.match(await chart("steps").textContent(), /No steps yet.*calls stepscope\.step\(\)/);
});

test("half of the nodes: the data and a line that says so", async () => {
  service.jobs = [sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 20, nodes: 2, gpus: 16 })];
  service.change = (url, body) => (url.pathname.endsWith("/metrics") ? { ...body, series: body.series.filter(({ node }) => node === "host-1") } : body);
  await open();
  assert.match(await page.locator(".notice-amber").textContent(), /1 of 2 nodes .* Missing: host-2/);
});

test("a failing part says why, the others stay alive, and it recovers", async () => {
  page.expected.push(/status of 500/);
  service.fail(/\/metrics/, { times: 1 });
  await page.goto(`${service.url}/jobs/mlp-demo`);
  await page.getByText("The charts could not be loaded.").waitFor();
  await page.locator(".issue").first().waitFor(); // comes a moment later than what is above it
  assert.equal(await page.locator(".issue").count(), 1);
  await page.getByRole("button", { name: "Retry now" }).click();
  await plot("cpu").locator("canvas").waitFor();
});

test("a job that is not there says so and leads back", async () => {
  page.expected.push(/404/);
  await page.goto(`${service.url}/jobs/nope`);
  await page.getByRole("heading", { name: "No such job" }).waitFor();
  await page.locator("main").getByRole("link", { name: "the jobs" }).click();
  await page.getByRole("link", { name: "mlp-demo" }).waitFor();
});

test("text of jobs, nodes and rules stays text on the page and in the charts", async () => {
  const evil = '"><img src=x onerror="window.hit=1">';
  service.jobs = [sampleJob({ name: evil, startedUs: kStart, seconds: 20, node: evil, rules: [rule(evil, "finding", { status_details: evil, verdict: { kind: "finding", sentence: evil } })] })];
  await open("", evil);
  assert.equal(await page.locator("h1").textContent(), evil);
  assert.equal(await page.locator(".issue a").textContent(), evil);
  assert.equal(await page.evaluate(() => window.hit), undefined);
  assert.equal(await page.locator("main img").count(), 0);
});

test("times can be written in UTC", async () => {
  await open();
  await page.getByLabel("Times").selectOption("utc");
  assert.equal(new URL(page.url()).search, "?tz=utc");
  assert.match(await page.locator(".toolbar-span").textContent(), /\d\d:\d\d:\d\d to \d\d:\d\d:\d\d/);
});
