// What GET /fleet answers, from a few holders of GPUs.

const kWeekMs = 7 * 86_400_000;

export const kHolders = [
  { key: "ann", jobs: 3, held: 120, busy: 30, lost: 80, cost: 240 },
  { key: "the-service-account-of-the-nightly-trainings-of-the-second-hall", jobs: 40, held: 300, busy: 250, lost: 20, cost: null },
  { key: null, jobs: 1, held: 5, busy: 0, lost: 0, cost: null },
];

const kShares = { preprocessing: 0.6, communication: 0.25, unknown: 0.15 };
const causeOf = (cause, held, lost) => ({ cause, words: cause, gpu_hours: lost * kShares[cause], share: held > 0 ? (lost * kShares[cause]) / held : null });

function sumsOf({ jobs, held, busy, lost, cost }) {
  const judged = busy + lost;
  return {
    jobs, running_jobs: jobs > 3 ? 1 : 0, jobs_with_issues: lost > 0 ? 1 : 0, judged_jobs: judged > 0 ? jobs : 0, jobs_without_gpus: 0,
    gpu_hours: held, judged_gpu_hours: judged, busy_gpu_hours: busy, lost_gpu_hours: lost, not_judged_gpu_hours: held - judged,
    judged_share: held > 0 ? judged / held : null, busy_share: judged > 0 ? busy / judged : null,
    first_cause: lost > 0 ? causeOf("preprocessing", held, lost) : null, priced_share: cost === null ? 0 : 0.5, cost, lost_cost: cost === null ? null : (cost * lost) / held,
  };
}

const kSlots = 28;
const spread = (hours, at) => Array.from({ length: kSlots }, (_, i) => (i < at ? 0 : (hours / kSlots) * (1 + ((i * 7) % 5) / 5)));

function gridOf(holders) {
  const rows = holders.map(({ key, held, busy, lost }, i) => ({ key, gpu_hours: spread(held, i * 3), judged_gpu_hours: spread(busy + lost, i * 3), lost_gpu_hours: spread(lost, i * 3 + 2) }));
  return { slot_seconds: 6 * 3600, rows };
}

function idleOf(holders) {
  const idle_gpus = Array.from({ length: 10 }, (_, i) => ({ node: "node-1", device: `gpu${i}`, idle_seconds: 600 + 60 * i }));
  const jobs = holders.filter(({ key }) => key === "ann").map(({ key }) => ({ name: "albef-1001", group: null, user: key, gpus: 16, idle_gpus, judged: new Date(0).toISOString(), judged_us: 0 }));
  return { running_jobs: holders.length, judged_jobs: jobs.length, not_asked_jobs: 0, gpus: 10 * jobs.length, jobs_total: jobs.length, jobs };
}

const asOf = () => ({ as_of: "2026-11-27T12:34:56.000000Z", as_of_us: Date.parse("2026-11-27T12:34:56Z") * 1000 });

const total = (holders) => holders.reduce((a, b) => ({ jobs: a.jobs + b.jobs, held: a.held + b.held, busy: a.busy + b.busy, lost: a.lost + b.lost, cost: b.cost ?? a.cost }), { jobs: 0, held: 0, busy: 0, lost: 0, cost: null });

export function fleet(holders, query) {
  const by = query.get("by") ?? "user";
  const shown = holders.filter(({ key }) => !query.get("user") || key === query.get("user"));
  const sums = total(shown);
  const end = Date.parse(query.get("to") ?? "") || Date.now();
  const times = (from, to) => ({ from: new Date(from).toISOString(), from_us: from * 1000, to: new Date(to).toISOString(), to_us: to * 1000 });
  const weeks = Array.from({ length: 12 }, (_, i) => {
    const part = (i + 1) / 12;
    const week = { ...sums, jobs: i, held: sums.held * part, busy: sums.busy * part, lost: sums.lost * part };
    return { ...times(end - (12 - i) * kWeekMs, end - (11 - i) * kWeekMs), sums: sumsOf(sums.jobs === 0 ? sums : week) };
  });
  return {
    ...times(Date.parse(query.get("from") ?? "") || end - kWeekMs, end), by, total: sumsOf(sums),
    causes: sums.lost > 0 ? Object.keys(kShares).map((cause) => ({ ...causeOf(cause, sums.held, sums.lost), first_in_jobs: 1 })) : [],
    rows: shown.map((holder) => ({ key: by === "job" ? `job-of-${holder.key}` : holder.key, sums: sumsOf(holder) })), rows_total: shown.length + (shown.length > 2 ? 7 : 0),
    jobs: shown.filter(({ lost }) => lost > 0).map((holder) => ({
      name: `run-of-${holder.key.slice(0, 40)}`, group: null, user: holder.key, account: null, gpu: "NVIDIA <H100>", gpus: 8,
      sentence: "The GPUs were busy 27.3 % of 110.00 GPU hours; most was lost to preprocessing, 43.6 %.", sums: sumsOf({ ...holder, jobs: 1 }),
    })),
    weeks, left_out_jobs: 0, grid: gridOf(shown.map((holder) => ({ ...holder, key: by === "job" ? `job-of-${holder.key}` : holder.key }))), idle_now: idleOf(shown), ...asOf(),
  };
}
