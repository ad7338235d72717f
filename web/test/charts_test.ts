import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { silhouette } from "../src/job/brush";
import { columnsOf } from "../src/job/plot";
import { metricsOf as metricsOfRows, panelsOf as panelsOfRows } from "../src/job/panels";
import { systemRows } from "../src/job/system/rows";
import { isAsync, phasePanel } from "../src/job/steps/phase_panel";
import { rankShown, stepPanel } from "../src/job/steps/step_panels";
import { gapsMs, summaryOf } from "../src/job/summary";
import { append } from "../src/job/traces";
import { csvOf } from "../src/job/chart_table";
import { dueOf, removedUntilUs, wholeOf, zoomOf } from "../src/job/view";
import type { Job, JudgedRule, Metrics, RankSteps, Series, Steps } from "../src/model";

const series = (metric: string, node: string, device: string, times: number[], mean: (number | null)[], unit = "%"): Series => ({
  metric, node, device, unit,
  times_us: times.map((s) => s * 1e6),
  mean,
  min: mean.map((v) => (v === null ? null : v - 1)),
  max: mean.map((v) => (v === null ? null : v + 1)),
});
const metrics = (...list: Series[]): Metrics => ({
  interval_ms: 500, bin_us: 1e6, from_us: 0, to_us: 3e6, cursor: "c", agents: [], series: list,
});
const node = (name: string, cores = 2, gpus = 0) => ({ name, cores, gpus: Array(gpus).fill({}), absent: [{ source: "gpu", reason: "no driver" }], facts: {} });
const job = (nodes = [node("n1")]) =>
  ({ name: "j", created_us: 0, started_us: 0, ended_us: null, status: "InProgress", nodes, profiler_rule_evaluation_statuses: [] }) as unknown as Job;
/** Of System, which has all charts. */
const metricsOf = (of: Job) => metricsOfRows(of, systemRows(of));
const panelsOf = (of: Job, m: Metrics, rules: JudgedRule[]) => panelsOfRows(of, m, rules, systemRows(of));
const panel = (id: string, m: Metrics, j = job(), rules: JudgedRule[] = []) => {
  const found = panelsOf(j, m, rules).find((each) => each.id === id);
  assert.ok(found);
  return found;
};

test("the CPU band reaches from the lowest to the highest core", () => {
  const cpu = panel("cpu", metrics(
    series("node_cpu_percent", "n1", "", [0, 1], [50, 60]),
    series("cpu_util_percent", "n1", "0", [0, 1], [10, 20]),
    series("cpu_util_percent", "n1", "1", [0, 1], [90, 95]),
  ));
  assert.deepEqual(cpu.traces[0]?.mean, [50, 60]);
  assert.deepEqual(cpu.traces[0]?.low, [9, 19]);
  assert.deepEqual(cpu.traces[0]?.high, [91, 96]);
});

test("disks are added up, not averaged, and a gap of one is the other's value", () => {
  const disk = panel("disk", metrics(
    series("disk_read_bytes_per_second", "n1", "sda", [0, 1, 2], [10, 20, null], "bytes/s"),
    series("disk_read_bytes_per_second", "n1", "sdb", [0, 1, 2], [1, null, null], "bytes/s"),
  ));
  assert.deepEqual(disk.traces[0]?.mean, [11, 20, null]);
  assert.equal(disk.note, "sum of 2 disks");
});

test("a few nodes have a line each, many have one band", () => {
  const of = (many: number) => panel("memory", metrics(
    ...Array.from({ length: many }, (_, i) => series("memory_used_percent", `n${i}`, "", [0], [10 * i]))));
  assert.deepEqual(of(3).traces.map(({ label }) => label), ["n0", "n1", "n2"]);
  assert.equal(of(8).traces.length, 1);
  assert.deepEqual([of(8).traces[0]?.mean[0], of(8).traces[0]?.low?.[0], of(8).traces[0]?.high?.[0]], [35, -1, 71]);
});

test("a missing GPU is explained, and not asked for when there is none", () => {
  assert.equal(panel("gpu", metrics(), job([node("n1", 2, 1)])).empty, "n1: no driver");
  assert.ok(!metricsOf(job()).some((name) => name.startsWith("gpu")));
  assert.ok(metricsOf(job([node("n1", 2, 1)])).includes("gpu_util_percent"));
});

test("what a node, a control group and a GPU seldom tell has a chart when it is told", () => {
  const gpus = job([node("n1", 2, 1)]);
  const shown = (metric: string, unit = "bytes", device = "") => {
    assert.ok(metricsOf(gpus).includes(metric), metric);
    const before = panelsOf(gpus, metrics(), []).map(({ id }) => id);
    const [only, ...others] = panelsOf(gpus, metrics(series(metric, "n1", device, [0], [7], unit)), []).filter(({ id }) => !before.includes(id));
    assert.ok(only && others.length === 0, metric);
    return [only.id, only.unit, only.traces.map(({ label, mean }) => [label, mean])];
  };
  assert.deepEqual(shown("memory_available_bytes"), ["available", "bytes", [["Available", [7]]]]);
  assert.deepEqual(shown("process_gpu_memory_bytes", "bytes", "rank0"), ["rankmemory", "bytes", [["Held", [7]]]]);
  assert.deepEqual(shown("cgroup_memory_limit_bytes"), ["groupmemory", "bytes", [["Limit", [7]]]]);
  assert.deepEqual(shown("cgroup_throttled_percent", "%"), ["groupcpu", "%", [["Throttled", [7]]]]);
  assert.deepEqual(shown("cgroup_oom_kills", ""), ["groupkills", "", [["Processes", [7]]]]);
  assert.deepEqual(shown("cgroup_write_bytes_per_second", "bytes/s"), ["groupio", "bytes/s", [["Write", [7]]]]);
  assert.deepEqual(shown("gpu_pcie_link_bytes_per_second", "bytes/s", "card1"), ["gpupcie", "bytes/s", [["Link", [7]]]]);
  assert.deepEqual(shown("gpu_nvlink_send_bytes_per_second", "bytes/s", "gpu0"), ["gpunvlink", "bytes/s", [["Send", [7]]]]);
});

test("of many ranks that hold GPU memory the mean is shown, of a few each", () => {
  const held = (many: number) => panel("rankmemory", metrics(
    ...Array.from({ length: many }, (_, i) => series("process_gpu_memory_bytes", "n1", `rank${i}`, [0], [i], "bytes")))).traces.map(({ label }) => label);
  assert.deepEqual([held(2), held(8)], [["n1 rank0", "n1 rank1"], ["Mean of 8 ranks"]]);
});

test("every metric of a chart is one that agents send", () => {
  const known = readFileSync("../core/model/metric.cpp", "utf8");
  for (const metric of metricsOf(job([node("n1", 2, 1)]))) assert.ok(known.includes(`{"${metric}", k`), metric);
});

test("the cores of a large node are not asked for one by one", () => {
  assert.ok(metricsOf(job()).includes("cpu_util_percent"));
  assert.ok(!metricsOf(job([node("n1", 192)])).includes("cpu_util_percent"));
});

test("a threshold comes from the parameters of the job's own rule", () => {
  const rules = [{ rule: "CPUBottleneck", parameters: { cpu_threshold: 85 } }] as unknown as JudgedRule[];
  const cpu = panel("cpu", metrics(series("node_cpu_percent", "n1", "", [0], [50])), job(), rules);
  assert.deepEqual(cpu.threshold, { rule: "CPUBottleneck", value: 85, beyond: "above" });
  assert.equal(panel("cpu", metrics()).threshold, null);
  const custom = [{ rule: "Custom", rule_configuration_name: "Full", parameters: { metric: "memory_used_percent", threshold: 90, comparison: "above" } }] as unknown as JudgedRule[];
  assert.deepEqual(panel("memory", metrics(), job(), custom).threshold, { rule: "Full", value: 90, beyond: "above" });
});

test("what follows replaces the bin that was still filling", () => {
  const old = metrics(series("load_1m", "n1", "", [0, 1, 2], [1, 2, 2.5], ""));
  const more = metrics(series("load_1m", "n1", "", [2, 3], [3, 4], ""), series("load_1m", "n2", "", [3], [9], ""));
  const joined = append(old, more);
  assert.deepEqual(joined.series[0]?.times_us, [0, 1e6, 2e6, 3e6]);
  assert.deepEqual(joined.series[0]?.mean, [1, 2, 3, 4]);
  assert.equal(joined.series[1]?.node, "n2");
});

test("columns tell a gap from a trace that has no point at this time", () => {
  const [times, a, b] = columnsOf({ traces: [
    { label: "a", tone: 0, timesMs: [0, 2], mean: [1, null], low: null, high: null },
    { label: "b", tone: 1, timesMs: [1], mean: [5], low: null, high: null },
  ] });
  assert.deepEqual(times, [0, 1, 2]);
  assert.deepEqual(a, [1, undefined, null]);
  assert.deepEqual(b, [undefined, 5, undefined]);
});

test("the sentence has the numbers of what is shown, and names what was not measured", () => {
  const rules = [{ rule: "CPUBottleneck", parameters: { cpu_threshold: 90 } }] as unknown as JudgedRule[];
  const cpu = panel("cpu", metrics(series("node_cpu_percent", "n1", "", [0, 1, 2, 8], [40, 100, null, 40])), job(), rules);
  const span = { fromMs: 0, toMs: 10_000 };
  assert.equal(
    summaryOf(cpu, span, "relative", 0),
    "In use: mean 60 %, above 90 % for 33 % of the time, highest 101 % at 1 s; nothing measured for 7.00 s.",
  );
  assert.equal(gapsMs(cpu.traces[0]!, span), 7000);
  assert.match(summaryOf(cpu, { fromMs: 20_000, toMs: 30_000 }, "relative", 0), /no samples here/);
});

test("the highest value is the highest within a point; where only means are known, it says so", () => {
  const span = { fromMs: 0, toMs: 10_000 };
  const binned = (...list: Series[]) => ({ ...metrics(...list), bin_us: 2e6 });
  const two = panel("memory", binned(series("memory_used_percent", "n1", "", [0, 2], [20, 30]), series("memory_used_percent", "n2", "", [0, 2], [50, 40])));
  assert.match(summaryOf(two, span, "relative", 0), /^n1: mean 25 %, highest 31 % at 2 s; n2: mean 45 %, highest 51 % at 0 s/);
  const read = (device: string) => series("disk_read_bytes_per_second", "n1", device, [0, 2], [10, 20], "bytes/s");
  assert.match(summaryOf(panel("disk", binned(read("sda"), read("sdb"))), span, "relative", 0), /^Read: mean 30 B\/s, highest mean of 2.00 s 40 B\/s at 2 s/);
  assert.match(summaryOf(panel("disk", binned(read("sda"))), span, "relative", 0), /highest 21 B\/s/);
  const cores = panel("processes", binned(series("process_cpu_percent", "n1", "rank0", [0], [149])));
  assert.match(summaryOf(cores, span, "relative", 0), /mean 1.49, highest 1.50 at/);
  const steps = (many: number) => stepPanel({ rank: 0, node: null, series: {
    steps_per_point: many, step: [0, many], start_us: [0, 4e6], wall_seconds: [1, 2.45], data_seconds: [0, 0], phases_seconds: {},
  } } as unknown as RankSteps);
  assert.match(summaryOf(steps(4), span, "relative", 0), /highest mean of 4 steps 2.45 s at 4 s/);
  assert.match(summaryOf(steps(1), span, "relative", 0), /, highest 2.45 s at 4 s/);
});

test("nothing measured at the end is a gap, but what is on its way is none", () => {
  const [memory] = panel("memory", metrics(series("memory_used_percent", "n1", "", [0, 1, 2, 3], [20, 20, 20, 20]))).traces;
  assert.ok(memory);
  assert.equal(gapsMs(memory, { fromMs: 0, toMs: 63_000 }), 60_000);
  assert.equal(gapsMs(memory, { fromMs: 33_000, toMs: 43_000 }), 10_000, "a view without a sample");
  assert.equal(gapsMs(memory, { fromMs: 0, toMs: 7000 }), 0);
  assert.equal(gapsMs(memory, { fromMs: 0, toMs: 63_000, dueMs: 5000 }), 0);
  assert.match(silhouette(memory, { fromMs: 0, toMs: 100_000 }), /M30\.0 100V80\.0H40\.0V100$/);
  assert.match(silhouette(memory, { fromMs: 0, toMs: 5000 }), /H1000\.0V100$/);
});

test("samples of a running job are due up to a little before its newest, of an ended one to its end", () => {
  const found = { ...metrics(), to_us: 100e6 };
  const whole = { fromMs: 0, toMs: 120_000 };
  assert.equal(dueOf(job(), found, whole), 85_000);
  assert.equal(dueOf({ ...job(), status: "Completed" } as Job, found, whole), 120_000);
});

test("a table row has the time, mean, lowest and highest; a gap is an empty cell", () => {
  const memory = panel("memory", metrics(series("memory_used_percent", "n1", "", [0, 1], [20, null])));
  const lines = csvOf(memory, { fromMs: 0, toMs: 10_000 }).split("\n");
  assert.equal(lines[0], 'time,"In use (%)","In use, lowest (%)","In use, highest (%)"');
  assert.equal(lines[1], "1970-01-01T00:00:00.000Z,20,19,21");
  assert.equal(lines[2], "1970-01-01T00:00:01.000Z,,,");
});

test("a name that looks like a formula is a text in the table file", () => {
  const named = (label: string) => ({ label, tone: 0, timesMs: [0], mean: [1], low: null, high: null });
  const names = ["=HYPERLINK(\"x\")", "@SUM(A1)", "+1", "-1", "host-1", 'a"b'];
  const head = csvOf({ ...panel("memory", metrics()), unit: "", traces: names.map(named) }, { fromMs: 0, toMs: 1 }).split("\n")[0];
  assert.equal(head, `time,"'=HYPERLINK(""x"")","'@SUM(A1)","'+1","'-1","host-1","a""b"`);
});

test("steps of an unknown rank show the first one; no step says what to do", () => {
  const series = { steps_per_point: 1, step: [0], start_us: [1e6], wall_seconds: [0.1], data_seconds: [0.06], phases_seconds: { data: [0.06] } };
  const rank = { rank: 3, node: null, series };
  assert.equal(stepPanel(rankShown({ ranks: [rank] } as unknown as Steps, 9)).traces.length, 2);
  const silent = { ...rank, series: { ...series, data_seconds: [0], phases_seconds: {} } };
  const shown = stepPanel(rankShown({ ranks: [silent] } as unknown as Steps, 3));
  assert.deepEqual([shown.traces.map(({ label }) => label), shown.note], [["Whole step"], "rank 3; no step tells of a wait for data"]);
  const none = stepPanel(rankShown({ ranks: [], left_out: 0 }, 0));
  assert.equal(none.traces.length, 0);
  assert.match(none.empty, /stepscope/);
});

const phased = (phases_seconds: Readonly<Record<string, number[]>>) => phasePanel({ rank: 0, node: "n1", series: {
  steps_per_point: 1, step: [0, 1], start_us: [1e6, 2e6], wall_seconds: [1, 3], data_seconds: [0, 0], phases_seconds,
} } as unknown as RankSteps);

test("phases are shares of the time of the steps, with what none of them covers, in the order of a step", () => {
  const shown = phased({ backward: [0.25, 1.5], data: [0.5, 0] });
  assert.deepEqual(shown.traces.map(({ label, mean }) => [label, mean]), [
    ["Data", [50, 0]], ["Backward", [25, 50]], ["Unnamed", [25, 50]],
  ]);
  assert.equal(summaryOf(shown, { fromMs: 0, toMs: 9000 }, "relative", 0), "Most of the time: Backward 44 %, Unnamed 44 %, Data 13 %.");
  assert.match(csvOf(shown, { fromMs: 0, toMs: 9000 }), /^time,"Data \(%\)","Backward \(%\)","Unnamed \(%\)"\n1970-01-01T00:00:01.000Z,50,25,25\n/);
  assert.deepEqual(phased({}).traces, []);
});

test("phases of a rank whose GPU works asynchronously say whose time they are", () => {
  const ranks = [{ rank: 0, node: "n1", facts: { gpu_async: "True" } }, { rank: 1, node: "n1", facts: {} }, { rank: 2, node: "n2" }];
  assert.deepEqual([0, 1, 2, 3].map((rank) => isAsync({ ...job(), ranks: ranks as unknown as Job["ranks"] }, rank)), [true, false, false, false]);
  const found = { rank: 1, series: { start_us: [], wall_seconds: [], phases_seconds: {} } } as unknown as RankSteps;
  assert.equal(phasePanel(found).note, "share of step time, rank 1");
  assert.match(phasePanel(found, true).note, /^share of step time, rank 1; work on the GPU/);
});

test("layers are drawn from the top: each reaches down to the ground and the next covers it", () => {
  const shown = phased({ data: [0.5, 0], forward: [0.25, 1.5], loss: [0, 1.5] });
  const [times, ...layers] = columnsOf(shown);
  assert.deepEqual(times, [1000, 2000]);
  assert.deepEqual(layers, [[100, 100], [75, 100], [75, 50], [50, 0]]);
});

test("a zoom needs two numbers in order; a running job reaches to its newest sample", () => {
  assert.deepEqual(zoomOf("?from=1000&to=5000"), { fromMs: 1000, toMs: 5000 });
  for (const bad of ["", "?from=1000", "?from=5&to=1", "?from=a&to=b"]) assert.equal(zoomOf(bad), null);
  const long = metrics(series("load_1m", "n1", "", [0, 80], [1, 2], ""));
  assert.deepEqual(wholeOf(job(), long, null), { fromMs: 0, toMs: 80_000 });
});

test("removed samples are spoken of where the span begins before them", () => {
  const removed = { ...job(), samples_from_us: 50e6 };
  assert.equal(removedUntilUs({ ...job(), samples_from_us: null }, { fromMs: 0, toMs: 9 }), null);
  assert.equal(removedUntilUs(removed, { fromMs: 49_999, toMs: 60_000 }), 50e6);
  assert.equal(removedUntilUs(removed, { fromMs: 50_000, toMs: 60_000 }), null);
});
