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
