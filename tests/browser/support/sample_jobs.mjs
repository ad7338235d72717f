// Jobs as the service would answer them. Everything is computed, so that a test knows each number.

export const kInterval = 500_000; // us

const kRules = {
  finding: ["IssuesFound", "finding", "rank 0 waited for data in 63 % of each step (median of 812 steps, threshold 20 %)"],
  clear: ["NoIssuesFound", "clear", "no core was above 90 % while a GPU was idle"],
  open: ["InProgress", "unknown", "486 of 1,000 samples seen"],
  unknown: ["NoIssuesFound", "unknown", "no GPU on any node"],
  error: ["Error", "unknown", "state of version 3 cannot be read"],
};

export function rule(name, what, more = {}) {
  const [status, kind, sentence] = kRules[what];
  return {
    rule_configuration_name: name,
    rule: name,
    rule_evaluation_status: status,
    status_details: kind === "unknown" ? `not judged: ${sentence}` : sentence,
    last_modified_time: "2026-11-20T20:13:40.000000Z",
    last_modified_time_us: 1795205620000000,
    verdict: { kind, sentence },
    share: what === "finding" ? 0.62 : null,
    severity: what === "finding" ? "high" : null,
    active: what === "finding",
    ...more,
  };
}

const cause = (name, words, share, more = {}) => ({ cause: name, words, seconds: 120 * share, share, cost: null, speed_up: null, stage: null, suspect: null, advice: null, ...more });

/** A diagnosis that finds most of the time lost to preprocessing. */
export const sampleDiagnosis = {
  sentence: "The steps were computing 26.0 % of 120 rank seconds; most was lost to preprocessing, 63.0 %.",
  unit: "rank_seconds", total_seconds: 120, confidence: "steps seen", steps: 400, threshold: 10,
  clock: "host", named_share: 0.98, missing: [], parts: { initialisation: 12, training: 96, evaluation: 8, finalisation: 4 },
  budget: [
    cause("busy", "busy", 0.26),
    cause("preprocessing", "preprocessing", 0.63, { speed_up: 2.7, stage: 2, suspect: "data pipeline", advice: "Use more data-loader workers." }),
    cause("storage", "checkpoints and logs", 0.11, { speed_up: 1.12, stage: 8, suspect: "data pipeline", advice: "Write checkpoints less often." }),
  ],
};

const iso = (us) => (us === null ? null : new Date(us / 1000).toISOString().replace("Z", "000Z"));

const kShares = { data: 0.63, transfer: 0.02, forward: 0.09, loss: 0.01, backward: 0.13, communication: 0.03, optimizer: 0.04, checkpoint: 0.03 };

/** A job that started `startedUs` and has run `seconds`; it ended when `status` says so. */
export function sampleJob(options) {
  const { name, startedUs, seconds = 120, status = "Completed", gpus = 0, rules, node = "host-1" } = options;
  const running = status === "InProgress";
  const job = {
    name, status, seconds, gpus, startedUs, node,
    group: options.group ?? "",
    secondary: running ? "Training" : status,
    createdUs: startedUs - 500_000,
    failure: options.failure ?? null,
    samplesFromUs: options.samplesFromUs ?? null, // earlier ones were removed
    nodes: options.nodes ?? 1,
    gap: options.gap ?? null, // [from, to] in s
    silent: options.silent ?? false, // no samples at all
    steps: options.steps ?? true,
    annotations: options.annotations ?? [],
    diagnosis: options.diagnosis === undefined ? sampleDiagnosis : options.diagnosis,
    ranks: options.ranks ?? 1,
    verdict: options.verdict ?? null,
    gpuIdle: options.gpuIdle ?? null, // seconds before each step that the GPU had nothing to do, by its own clock
    shares: { ...kShares, ...options.shares },
    rankFacts: options.rankFacts ?? {},
    nodeFacts: options.nodeFacts ?? {},
    clockSuspect: options.clockSuspect ?? null, // clock_suspect of the first node
    change: options.change ?? {}, // of its step times from another job's
    history: options.history ?? {}, // changes of the status by rule: [second, status, message]
    custom: options.custom ?? {}, // custom metrics, each with its devices
    windows: options.windows ?? [],
    events: options.events ?? [],
    rules: rules ?? [
      rule("DataloaderBottleneck", "finding"),
      rule("CPUBottleneck", "clear"),
      rule("LowGPUUtilization", "unknown"),
      rule("OverallSystemUsage", running ? "open" : "clear"),
    ],
  };
  return job;
}

const endedUs = (job) => (job.status === "InProgress" ? null : job.startedUs + job.seconds * 1e6);

const ranksOf = (job) => Array.from({ length: job.ranks }, (_, rank) => rank);

export function listItem(job) {
  const spark = Array.from({ length: 24 }, (_, i) => (job.silent || i === 7 ? null : 20 + ((i * 13) % 60)));
  const trouble = job.rules.filter(({ rule_evaluation_status: s }) => s === "IssuesFound" || s === "Error");
  return {
    name: job.name, group: job.group, status: job.status, secondary_status: job.secondary,
    created: iso(job.createdUs), created_us: job.createdUs,
    started: iso(job.startedUs), started_us: job.startedUs,
    ended: iso(endedUs(job)), ended_us: endedUs(job),
    duration_seconds: job.seconds, nodes: job.nodes, gpus: job.gpus,
    mean_gpu_util_percent: job.gpus > 0 ? 41.2 : null,
    gpu_util_sparkline: job.gpus > 0 ? spark : spark.map(() => null),
    mean_cpu_util_percent: job.silent ? null : 61.24,
    cpu_util_sparkline: spark,
    median_step_seconds: job.steps && !job.silent ? 0.0412 : null,
    verdict: verdictOf(job),
    rules_in_trouble: trouble.map(({ rule_configuration_name: name }) => name),
  };
}

/** The verdict that the service works out of the rules; ProfilerReport is judged unless the job says otherwise. */
function verdictOf(job) {
  return job.verdict ?? (job.rules.some(({ rule_evaluation_status: s }) => s === "IssuesFound") ? "issues" : "none");
}

export const nodesOf = (job) => Array.from({ length: job.nodes }, (_, i) => (i === 0 ? job.node : `host-${i + 1}`));

export function description(job) {
  const { name, group, status, secondary_status, created, created_us, started, started_us, ended, ended_us } = listItem(job);
  return {
    name, group, status, secondary_status, created, created_us, started, started_us, ended, ended_us,
    samples_from: iso(job.samplesFromUs), samples_from_us: job.samplesFromUs,
    failure: job.failure,
    configuration: { interval_ms: 500, keep_samples_days: null },
    nodes: nodesOf(job).map((node, i) => ({
      name: node, cores: 2, memory_bytes: 8254390272, gpus: Array(job.gpus / job.nodes).fill({ name: "NVIDIA A100" }),
      last_seen: iso(lastUs(job)), last_seen_us: lastUs(job), ended, ended_us,
      exit_code: ended === null ? null : status === "Failed" ? 1 : 0, signal: null,
      clock_offset_us: 120, round_trip_us: 840, clock_suspect: i === 0 ? job.clockSuspect : null,
      absent: job.gpus > 0 ? [{ source: "infiniband", reason: "no such device" }] : [{ source: "gpu", reason: "no GPU: libnvidia-ml.so.1 not found; no AMD or Intel card" }],
      facts: { kernel: "6.1.0", agent_version: "0.1.0", command: ["python3", "train.py", "--epochs", "3"], ...job.nodeFacts },
    })),
    ranks: !job.steps ? [] : ranksOf(job).map((rank) => ({
      rank, node: job.node, pid: 4711, local_rank: rank, world_size: job.ranks, framework: "numpy", dropped: 0, ended, ended_us, facts: job.rankFacts,
    })),
    secondary_status_transitions: [
      { status: "InProgress", secondary_status: "Starting", start_time: created, start_time_us: created_us, message: "" },
      { status: "InProgress", secondary_status: "Training", start_time: started, start_time_us: started_us + 2e6, message: "first step of rank 0" },
      ...(ended === null ? [] : [{ status, secondary_status: status, start_time: ended, start_time_us: ended_us, message: `all ${job.nodes} nodes ended` }]),
    ],
    profiler_rule_evaluation_statuses: job.rules,
    verdict: verdictOf(job),
    diagnosis: job.diagnosis,
    url: `http://127.0.0.1/jobs/${encodeURIComponent(name)}`,
  };
}

export const lastUs = (job) => job.startedUs + job.seconds * 1e6;

/** The value of each metric at a second of the job: [min, mean, max]. */
const kShapes = {
  node_cpu_percent: (t) => [30, 55 + 20 * Math.sin(t / 9), 97],
  node_iowait_percent: (t) => [0, 8 + 4 * Math.sin(t / 5), 20],
  cpu_util_percent: (t, d) => [5 + 10 * d, 50 + 15 * d + 20 * Math.sin(t / 9), 80 + 18 * d],
  memory_used_percent: (t) => [20, 22 + Math.min(20, t / 20), 45],
  disk_read_bytes_per_second: (t) => [0, 40e6 + 30e6 * Math.sin(t / 4), 90e6],
  disk_write_bytes_per_second: () => [0, 1.5e6, 4e6],
  network_receive_bytes_per_second: (t) => [0, 20e3 + 9e3 * Math.cos(t / 3), 40e3],
  network_send_bytes_per_second: () => [0, 12e3, 20e3],
  rdma_receive_bytes_per_second: (t, d) => [0, 9e9 + 2e9 * d + 3e9 * Math.sin(t / 6), 22e9],
  rdma_send_bytes_per_second: (t, d) => [0, 8e9 + 2e9 * d + 3e9 * Math.cos(t / 6), 20e9],
  nfs_read_bytes_per_second: (t) => [0, 350e6 + 200e6 * Math.sin(t / 5), 900e6],
  nfs_write_bytes_per_second: () => [0, 2e6, 9e6],
  process_thread_cpu_percent: (t) => [40, 88 + 8 * Math.sin(t / 4), 100],
  process_cpu_percent: (t) => [90, 420 + 60 * Math.sin(t / 7), 700],
  process_loaders_cpu_percent: (t) => [0, 290 + 40 * Math.sin(t / 7), 400],
  memory_available_bytes: (t) => [80e9, 200e9 - Math.min(60e9, t * 0.5e9), 210e9],
  memory_shared_bytes: (t) => [1e9, 6e9 + 2e9 * Math.sin(t / 9), 9e9],
  process_gpu_memory_bytes: () => [10e9, 31e9, 33e9],
  cgroup_memory_bytes: (t) => [1e9, 12e9 + Math.min(50e9, t * 0.3e9), 64e9],
  cgroup_memory_limit_bytes: () => [64e9, 64e9, 64e9],
  cgroup_throttled_percent: (t) => [0, 9 + 6 * Math.sin(t / 8), 40],
  cgroup_read_bytes_per_second: (t) => [0, 30e6 + 20e6 * Math.sin(t / 4), 80e6],
  cgroup_write_bytes_per_second: () => [0, 1e6, 3e6],
  pressure_cpu_percent: (t) => [0, 12 + 8 * Math.sin(t / 7), 30],
  pressure_memory_percent: () => [0, 0, 0],
  pressure_io_percent: (t) => [0, 18 + 9 * Math.sin(t / 6), 40],
  load_1m: (t) => [0.5, 1.5 + Math.min(1, t / 60), 3],
  gpu_util_percent: (t, d) => [0, 41 + 10 * (d % 4) + 20 * Math.sin(t / 8), 95],
  gpu_memory_used_percent: (t, d) => [60, 62 + (d % 2), 64],
  gpu_power_watts: (t, d) => [90, 210 + 15 * (d % 4) + 60 * Math.sin(t / 8), 400],
  gpu_pcie_receive_bytes_per_second: (t) => [0, 6e9 + 3e9 * Math.sin(t / 6), 12e9],
  gpu_pcie_send_bytes_per_second: () => [0, 1e9, 3e9],
  gpu_nvlink_receive_bytes_per_second: (t) => [0, 90e9 + 40e9 * Math.sin(t / 6), 300e9],
  gpu_nvlink_send_bytes_per_second: (t) => [0, 85e9 + 40e9 * Math.cos(t / 6), 300e9],
  gpu_power_throttle_percent: () => [0, 0, 0],
  gpu_thermal_throttle_percent: (t) => [0, t > 60 ? 30 : 0, 100],
};
const kDevices = {
  cpu_util_percent: () => ["0", "1"],
  disk_read_bytes_per_second: () => ["nvme0n1"],
  disk_write_bytes_per_second: () => ["nvme0n1"],
  network_receive_bytes_per_second: () => ["eth0"],
  network_send_bytes_per_second: () => ["eth0"],
  ...Object.fromEntries(["receive", "send"].map((way) => [`rdma_${way}_bytes_per_second`, (job) => (job.gpus > 0 ? ["mlx5_0:1", "mlx5_1:1"] : [])])),
  ...Object.fromEntries(["read", "write"].map((way) => [`nfs_${way}_bytes_per_second`, (job) => (job.gpus > 0 ? ["/data"] : [])])),
  process_gpu_memory_bytes: (job) => (job.gpus > 0 ? ranksOf(job).slice(0, job.ranks / job.nodes).map(String) : []),
  ...Object.fromEntries(["memory_bytes", "memory_limit_bytes", "throttled_percent", "read_bytes_per_second", "write_bytes_per_second"].map((part) => [`cgroup_${part}`, (job) => (job.gpus > 0 ? [""] : [])])),
  ...Object.fromEntries(["thread", "", "loaders"].map((part) => [["process", part, "cpu_percent"].filter(Boolean).join("_"), (job) => ranksOf(job).slice(0, job.ranks / job.nodes).map(String)])),
  ...Object.fromEntries(
    ["util_percent", "memory_used_percent", "power_watts", "power_throttle_percent", "thermal_throttle_percent",
      ...["pcie", "nvlink"].flatMap((link) => [`${link}_receive_bytes_per_second`, `${link}_send_bytes_per_second`])]
      .map((metric) => [`gpu_${metric}`, (job) => Array.from({ length: job.gpus / job.nodes }, (_, i) => String(i))])),
};
const kOwnShapes = { "user.epoch": (t) => [1, 1, 1].map((first) => first + Math.floor(t / 45)) };
const ownShape = (t, d) => [1.9, 2, 2.1].map((value) => value + d + Math.sin(t / 9) / 4);
const kUnits = { percent: "%", second: "bytes/s", bytes: "bytes", watts: "W" };
const unitOf = (metric) => (metric in kShapes && kUnits[metric.split("_").at(-1)]) || "";

function columns(job, metric, number, binUs, fromUs, toUs) {
  const series = { times_us: [], min: [], mean: [], max: [] };
  let inGap = false;
  for (let at = Math.ceil(fromUs / binUs) * binUs; at <= toUs; at += binUs) {
    const t = (at - job.startedUs) / 1e6;
    const gap = job.gap && t > job.gap[0] && t < job.gap[1];
    if (gap && inGap) continue;
    inGap = Boolean(gap);
    const values = gap ? [null, null, null] : (kShapes[metric] ?? kOwnShapes[metric] ?? ownShape)(t, number).map((v) => Math.round(v * 100) / 100);
    series.times_us.push(at);
    ["min", "mean", "max"].forEach((column, i) => series[column].push(values[i]));
  }
  return series;
}

/** The series folded into one for each metric; all are on one grid of bins. */
function foldOf(series) {
  return [...new Set(series.map(({ metric }) => metric))].map((metric) => {
    const all = series.filter((each) => each.metric === metric);
    const column = (name, how) => all[0][name].map((_, i) => (all[0].mean[i] === null ? null : how(all.map((each) => each[name][i]))));
    const sum = column("mean", (values) => values.reduce((total, value) => total + value, 0));
    return {
      ...all[0], node: "", device: "", of: all.length, sum,
      min: column("min", (values) => Math.min(...values)),
      mean: sum.map((value) => (value === null ? null : value / all.length)),
      max: column("max", (values) => Math.max(...values)),
    };
  });
}

/** The series with runs of neighbouring bins, [begin, number of bins], in place of times. */
function withRuns({ times_us, ...series }, binUs) {
  const runs = [];
  for (const at of times_us) {
    const last = runs.at(-1);
    if (last && at === last[0] + last[1] * binUs) last[1] += 1;
    else runs.push([at, 1]);
  }
  return { ...series, runs };
}

export function metrics(job, query) {
  const known = { ...kShapes, ...job.custom };
  const names = (query.get("metric") ?? Object.keys(known).join(",")).split(",").filter((metric) => metric in known);
  const since = query.get("since");
  const [sinceBin, sinceUs] = since ? since.split("-").map(Number) : [];
  const fromUs = sinceUs ?? Math.max(job.startedUs, Number(query.get("from_us") ?? 0));
  const toUs = Math.min(lastUs(job), Number(query.get("to_us") ?? Infinity));
  const bins = Number(query.get("points") ?? 300);
  const binUs = sinceBin ?? Math.max(1, Math.ceil((toUs - fromUs) / bins / kInterval)) * kInterval;
  const wanted = (node) => !query.get("node") || node === query.get("node");
  const series = job.silent ? [] : names.flatMap((metric) => nodesOf(job).flatMap((node, n) => !wanted(node) ? [] :
    (job.custom[metric] ?? kDevices[metric]?.(job) ?? [""]).map((device, d) => ({
      metric, node, device, unit: unitOf(metric), ...columns(job, metric, d + n, binUs, fromUs, toUs),
    }))));
  return {
    interval_ms: 500, bin_us: binUs, from_us: fromUs, to_us: toUs,
    cursor: `${binUs}-${Math.floor(toUs / binUs) * binUs}`,
    agents: nodesOf(job).map((node) => ({ node, last_seen: iso(lastUs(job)), last_seen_us: lastUs(job) })),
    series: (query.has("fold") ? foldOf(series) : series).map((one) => (query.get("times") === "runs" ? withRuns(one, binUs) : one)),
  };
}

const kUnnamed = 0.02;

/** Single steps of 50 ms, of which each 25th takes 80 ms. */
function stepRows(job, query) {
  const [from, to] = ["from_us", "to_us"].map((key, i) => Number(query.get(key) ?? [0, Infinity][i]));
  const all = Array.from({ length: Math.floor(job.seconds * 20) }, (_, i) => ({ step: i, start: "", start_us: job.startedUs + i * 50_000, wall_seconds: i % 25 === 0 ? 0.08 : 0.05, phases_seconds: { data: 0.03 }, evaluation_seconds: 0, gpu: null }));
  const items = all.filter(({ start_us }) => start_us >= from && start_us <= to);
  const limit = Number(query.get("limit") ?? 500);
  return { rank: Number(query.get("rank")), node: job.node, items: items.slice(0, limit), next: items.length > limit ? "MTIz" : null };
}

export function steps(job, query) {
  if (query.get("format") === "rows") return stepRows(job, query);
  if (!job.steps || job.silent) return { ranks: [], left_out: 0 };
  const many = Math.min(500, Math.floor(job.seconds));
  const index = Array.from({ length: many }, (_, i) => i);
  const wall = index.map((i) => 0.04 + 0.004 * Math.sin(i / 5) + (i % 25 === 0 ? 0.03 : 0));
  const shown = query.has("rank") ? [Number(query.get("rank"))] : ranksOf(job).slice(0, Number(query.get("most") ?? 256));
  return {
    ranks: shown.map((rank) => ({
      rank, node: job.node, steps: many * 20, first_step: 0, last_step: many * 20 - 1,
      wall_seconds: { mean: 0.042, max: 0.074, p99: 0.071, p95: 0.049, p50: 0.0412, min: 0.036 },
      wall_error_percent: 0,
      histogram: { edges_seconds: [0.03, 0.05, 0.08], counts: [many * 19, many] },
      phases: [...Object.entries(job.shares), ["unnamed", kUnnamed]].map(([phase, share]) => ({
        phase, total_seconds: many * share, share_percent: Math.round(10_000 * share) / 100,
      })),
      series: {
        steps_per_point: 20, step: index.map((i) => i * 20), start_us: index.map((i) => job.startedUs + Math.round((i * job.seconds * 1e6) / many)),
        wall_seconds: wall, data_seconds: wall.map((v) => v * job.shares.data),
        phases_seconds: Object.fromEntries(Object.entries(job.shares).map(([phase, share]) => [phase, wall.map((v) => v * share)])),
      },
      evaluation_seconds: 0,
      gpu: job.gpuIdle === null ? null : {
        steps: many * 20, idle_seconds: many * 20 * job.gpuIdle, phases: [],
        series: { work_seconds: wall.map((v) => v - job.gpuIdle), idle_seconds: wall.map((_, i) => (i % 10 === 9 ? null : job.gpuIdle)) },
      },
      annotations: job.annotations,
    })),
    left_out: query.has("rank") ? 0 : job.ranks - shown.length,
  };
}

const parameter = (name, fallback, [minimum, maximum], unit, help) => ({ name, default: fallback, minimum, maximum, unit, help });
const kParameters = {
  CPUBottleneck: [parameter("threshold", 50, [0, 100], "%", "Share of bottleneck ticks."), parameter("cpu_threshold", 90, [0, 100], "%", "A core above it is busy.")],
  LowGPUUtilization: [parameter("threshold_p95", 70, [0, 100], "%", "Least 95th percentile."), parameter("window", 500, [1, 100_000], "samples", "Samples of a percentile.")],
  DataloaderBottleneck: [parameter("threshold", 20, [0, 100], "%", "Median share of a step spent waiting that counts as a bottleneck."), parameter("min_steps", 20, [1, 10_000], "steps", "Steps needed before the rule speaks.")],
  OverallSystemUsage: [],
};

/** The items of GET /rules. */
export const catalog = () => Object.entries(kParameters).map(([name, parameters]) => ({ name, sentence: `What ${name} looks for.`, fires: "", advice: "", parameters }));

/** The parameters of a rule: the job's, changed by the given ones. */
export function parametersOf(job, name, given = {}) {
  const current = { ...Object.fromEntries((kParameters[name] ?? []).map((each) => [each.name, each.default])), ...job.parameters?.[name] };
  for (const [key, value] of Object.entries(given)) current[key] = value ?? kParameters[name].find((each) => each.name === key).default;
  return current;
}

/** The service's reason to refuse these parameters; "" when they are valid. */
export function refusalOf(name, given) {
  for (const { name: key, minimum, maximum, unit } of kParameters[name]) {
    const value = given[key];
    const good = value === null || value === undefined || (unit === "samples" && /^\d+s$/.test(value)) || (value >= minimum && value <= maximum);
    if (!good) return `${name}: ${key} is ${JSON.stringify(value)}, but must be a number from ${minimum} to ${maximum} ${unit}`;
  }
  return "";
}

/** Rank 0 waits for 63 % of each step. */
export function previewed(job, { name, parameters }) {
  const fires = (parameters.threshold ?? 20) < 63;
  const sentence = `rank 0 waited for data in 63 % of each step (median of 812 steps, threshold ${parameters.threshold} %).`;
  return {
    ...rule(name, fires ? "finding" : "clear"), verdict: { kind: fires ? "finding" : "clear", sentence },
    parameters: parametersOf(job, name, parameters), evidence: {},
    judged: { complete: true, rows: 812, until: null, until_us: null, sentence: "all that is stored: 812 ticks and steps" },
    findings_total: fires ? 2 : 0, findings: [], now: null,
    difference: fires ? "it would have fired too, with 2 findings instead of 1" : "it would not have fired; with its parameters of now it did",
  };
}

export function judged(job) {
  return { items: job.rules.map((each) => ({ ...each, parameters: parametersOf(job, each.rule), evidence: {}, evaluated: null, evaluated_us: null })) };
}
