// Answers about single parts of a job's page: when its rules fired, its heat map, its report.

import { kInterval, lastUs, nodesOf } from "./sample_jobs.mjs";

/** Each rule with issues fired twice, in the first and the third quarter of the job. */
export function findings(job) {
  const items = job.rules.filter((each) => each.rule_evaluation_status === "IssuesFound").flatMap((each) => [0.1, 0.6].map((part, i) => {
    const from_us = job.startedUs + Math.round(part * job.seconds) * 1e6;
    return {
      rule_configuration_name: each.rule_configuration_name, finding: i + 1, from: "", from_us, to: "", to_us: from_us + Math.round(job.seconds / 5) * 1e6,
      node: job.node, device: null, rank: job.steps ? 0 : null, sentence: each.verdict.sentence, evidence: {},
    };
  }));
  return { items, next: null, total: items.length };
}

/** Node n has 10 n less use of its GPUs, and as much more of its CPUs. */
export function usage(job) {
  const row = (node, metric, p50) => ({ node, metric, unit: "%", count: 200, max: p50 + 30, p99: p50 + 25, p95: p50 + 20, p90: p50 + 15, p50, min: 0 });
  const rows = nodesOf(job).flatMap((node, n) => [row(node, "node_cpu_percent", 40 + 10 * n), ...(job.gpus > 0 ? [row(node, "gpu_util_percent", 60 - 10 * n)] : [])]);
  return { from_us: job.startedUs, to_us: lastUs(job), of: "samples", rows };
}

const devicesOf = (job, metric) => (metric.startsWith("gpu_") ? job.gpus / job.nodes : metric === "cpu_util_percent" ? 2 : 1);

/** Device d of node n has the value 10 d + n in all columns but the last, which was not measured. */
export function heatmap(job, query) {
  const metric = query.get("metric");
  const columns = Number(query.get("columns") ?? 300);
  const nodes = nodesOf(job).filter((node) => !query.get("node") || node === query.get("node"));
  const rows = job.silent ? [] : nodes.flatMap((node) => Array.from({ length: devicesOf(job, metric) }, (_, d) => ({ node, device: devicesOf(job, metric) === 1 ? "" : String(d) })));
  const from = Math.max(job.startedUs, Number(query.get("from_us") ?? 0));
  const to = Math.min(lastUs(job), Number(query.get("to_us") ?? Infinity));
  const bin_us = Math.max(1, Math.ceil((to - from) / columns / kInterval)) * kInterval;
  const times_us = Array.from({ length: Math.max(1, Math.ceil((to - from) / bin_us)) }, (_, i) => from + i * bin_us);
  const cells = rows.flatMap(({ node, device }) => times_us.map((_, i) => (i === times_us.length - 1 ? 255 : Math.min(254, 10 * Number(device || 0) + nodes.indexOf(node)))));
  return { metric, unit: metric.endsWith("percent") ? "%" : "W", bin_us, times_us, rows, left_out: 0, low: 0, high: 127, matrix: Buffer.from(cells).toString("base64") };
}

export function report(job) {
  const part = (seconds) => ({ seconds, percent: (100 * seconds) / job.seconds });
  return {
    version: "0.1.0", as_of: "", as_of_us: lastUs(job), job: { name: job.name, running: job.status === "InProgress" },
    summary: {
      start: "", start_us: job.startedUs, end: null, end_us: job.status === "InProgress" ? null : lastUs(job), duration_seconds: job.seconds,
      initialisation: part(0.1 * job.seconds), training_loop: part(0.85 * job.seconds), evaluation: null, finalisation: part(0.05 * job.seconds),
    },
    measured: { from: "", from_us: job.startedUs, to: "", to_us: lastUs(job), interval_ms: 500, lost_frames: 0, rejected_frames: 0, dropped_marks: 2 },
    rules: job.rules.map((each) => ({ rule: { ...each, parameters: {} }, looks_for: null, triggers: each.active ? 7 : 0, used: [], findings: [], findings_total: 0 })),
    method: [{ number: "phases", formula: "time of the phase in all steps / wall time of all steps", source: "/jobs/{name}/steps: phases" }],
  };
}

const sideOf = (job) => ({
  name: job.name, group: job.group, status: job.status, created: "", created_us: job.createdUs, duration_seconds: job.seconds, nodes: job.nodes, gpus: job.gpus, ranks: job.ranks,
  gpu_hours: (job.gpus * job.seconds) / 3600, mean_gpu_util_percent: job.gpus > 0 ? 41.2 : null, mean_cpu_util_percent: 61.24, verdict: "issues",
  price_per_gpu_hour: job.price ?? null, cost: job.price ? 12.5 : null, cost_of_1000_steps: job.price ? 0.04 : null,
  gpu_util_percent: Array.from({ length: 24 }, (_, i) => (job.gpus === 0 || i === 5 ? null : 40 + i)), cpu_util_percent: Array.from({ length: 24 }, (_, i) => 60 + (i % 5)),
});

/** Steps of b take half the time of a's, unless the jobs say otherwise with `change`. */
export function comparison(a, b) {
  const steps = (mean_seconds) => ({
    rank: 0, steps: 2400, mean_seconds, p50_seconds: mean_seconds, p95_seconds: 1.2 * mean_seconds,
    line: { steps: Array.from({ length: 120 }, (_, i) => 20 * i), mean_seconds: Array.from({ length: 120 }, (_, i) => mean_seconds * (1 + ((i * 37) % 11) / 50)), start_seconds: Array.from({ length: 120 }, (_, i) => 10 + 20 * i * mean_seconds) },
    histogram: { edges_seconds: Array.from({ length: 12 }, (_, i) => mean_seconds * (0.8 + 0.04 * i)).concat(3 * mean_seconds), counts: [1, 20, 120, 400, 700, 600, 300, 150, 60, 30, 15, 4] },
  });
  const change = { verdict: "faster", material: true, percent: -50, low_percent: -52, high_percent: -48, noise_percent: 1.5, sentence: "", ...b.change };
  return {
    a: sideOf(a), b: sideOf(b), steps: { a: steps(0.04), b: steps(0.02), change },
    phases: [{ phase: "backward", a_seconds: 0.005, b_seconds: 0.005 }, { phase: "data", a_seconds: 0.03, b_seconds: 0.01 }],
    budget: [{ cause: "preprocessing", words: "preprocessing", a_share: 0.63, b_share: null }],
    rules: [{ rule_configuration_name: "DataloaderBottleneck", a: "issues", b: null }],
    differs: [{ what: "rank: <b>workers</b>", a: "4", b: "8" }, { what: "node: driver", a: null, b: "550" }],
  };
}
