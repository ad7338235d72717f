import { count, dateTime, hours, percent, plural, share, type TimeZone, zoneName } from "../format";
import type { Fleet, FleetSums } from "./calls";

// What the fleet's numbers say, in words.

export interface Piece {
  readonly key: string;
  readonly words: string;
  readonly hours: number;
  readonly tone: "busy" | "lost-0" | "lost-1" | "lost-2" | "lost-3" | "lost-rest" | "unknown";
}

const kTold = 4; // causes that have a colour of their own

/** The hours that were held, in pieces that add up to them: busy, the largest causes, the other causes, and what nobody judged. */
export function piecesOf({ total, causes }: Pick<Fleet, "total" | "causes">): readonly Piece[] {
  const told = causes.slice(0, kTold);
  const rest = Math.max(0, total.lost_gpu_hours - told.reduce((sum, cause) => sum + cause.gpu_hours, 0));
  const pieces: Piece[] = [
    { key: "busy", words: "busy", hours: total.busy_gpu_hours, tone: "busy" },
    ...told.map(({ cause, words, gpu_hours }, i): Piece => ({ key: cause, words: cause === "unknown" ? "lost, cause unknown" : words, hours: gpu_hours, tone: `lost-${i as 0}` })),
    { key: "rest", words: "other causes", hours: rest, tone: "lost-rest" },
    { key: "not-judged", words: "not judged", hours: total.not_judged_gpu_hours, tone: "unknown" },
  ];
  return pieces.filter((piece) => piece.hours > total.gpu_hours * 0.0005 && piece.hours > 0);
}

/** The fleet in one sentence. */
export function headlineOf({ total, causes }: Pick<Fleet, "total" | "causes">): string {
  if (total.gpu_hours === 0) return total.jobs === 0 ? "No job ran in this time." : "No job of this time held a GPU.";
  if (total.judged_gpu_hours === 0) return `${hours(total.gpu_hours)} of GPUs were held; none of it is judged.`;
  const first = causes[0];
  const most = first === undefined ? "" : `, most of it to ${first.cause === "unknown" ? "causes that are not known" : first.words}`;
  return `Of ${hours(total.gpu_hours)} of GPUs ${share(total.busy_gpu_hours / total.gpu_hours)} were busy and ${share(total.lost_gpu_hours / total.gpu_hours)} lost${most}.`;
}

/** What of the hours is known, where it is not all. */
export function doubtOf(total: FleetSums): string {
  if (total.gpu_hours === 0 || total.judged_share === null || total.judged_share >= 0.995) return "";
  return `${percent(100 * (1 - total.judged_share))} of the hours are not judged: before the first step, after the last one, or too little was seen.`;
}

export const dayOf = (us: number, zone: TimeZone): string => dateTime(us, zone, false).slice(0, 10);

/** How the weeks went, for the chart's caption. */
export function trendOf(weeks: Fleet["weeks"], zone: TimeZone): string {
  const held = weeks.filter(({ sums }) => sums.judged_gpu_hours > 0);
  if (held.length === 0) return "No week of these has judged hours.";
  const part = (sums: FleetSums) => sums.lost_gpu_hours / sums.judged_gpu_hours;
  const worst = held.reduce((a, b) => (part(b.sums) > part(a.sums) ? b : a));
  const last = held[held.length - 1] ?? worst;
  return `Lost of the judged hours: ${share(part(last.sums))} in the week until ${dayOf(last.to_us, zone)}; at most ${share(part(worst.sums))}, in the week until ${dayOf(worst.to_us, zone)}.`;
}

/** The part of judged hours that was lost; null where nothing was judged. */
export const lostShare = (judged: number, lost: number): number | null => (judged > 0 ? Math.min(1, lost / judged) : null);

type Row = Fleet["rows"][number];
interface Point extends Row {
  readonly x: number; // 0 to 1, logarithmic
  readonly y: number; // share lost of the judged hours
}

/** Rows with judged hours as points, and the powers of ten of their hours. Hours lie at least a factor of ten apart at the ends. */
export function placesOf(rows: readonly Row[]): { readonly points: readonly Point[]; readonly ticks: readonly { readonly x: number; readonly hours: number }[] } {
  const judged = rows.filter(({ sums }) => sums.gpu_hours > 0 && sums.judged_gpu_hours > 0);
  const logs = judged.map(({ sums }) => Math.log10(sums.gpu_hours));
  const low = Math.floor(Math.min(...logs));
  const high = Math.max(low + 1, Math.ceil(Math.max(...logs)));
  const place = (log: number) => 0.06 + (0.9 * (log - low)) / (high - low);
  const points = judged.map((row, i) => ({ ...row, x: place(logs[i] as number), y: lostShare(row.sums.judged_gpu_hours, row.sums.lost_gpu_hours) ?? 0 }));
  const ticks = judged.length === 0 ? [] : Array.from({ length: high - low + 1 }, (_, i) => ({ x: place(low + i), hours: 10 ** (low + i) }));
  return { points, ticks };
}

/** The points in one sentence. */
export function spreadOf({ rows }: Pick<Fleet, "rows">): string {
  const { points } = placesOf(rows);
  const half = points.filter(({ y }) => y > 0.5).length;
  const dark = rows.length - points.length;
  const first = `${count(half)} of ${count(points.length)} lost more than half of their judged hours.`;
  return dark === 0 ? first : `${first} ${count(dark)} without judged hours ${dark === 1 ? "is" : "are"} left out.`;
}

/** When a slot of the strips begins: 2026-11-27 12:30. */
export function slotBegin({ from_us, grid }: Pick<Fleet, "from_us" | "grid">, slot: number, zone: TimeZone): string {
  return dateTime(from_us + slot * grid.slot_seconds * 1e6, zone, false).slice(0, 16);
}

/** What a strip shows, in words. */
export function worstSlotOf(found: Pick<Fleet, "from_us" | "grid">, { gpu_hours, judged_gpu_hours, lost_gpu_hours }: Fleet["grid"]["rows"][number], zone: TimeZone): string {
  const shares = gpu_hours.map((_, i) => lostShare(judged_gpu_hours[i] ?? 0, lost_gpu_hours[i] ?? 0) ?? -1);
  const worst = shares.indexOf(Math.max(...shares));
  if ((shares[worst] ?? -1) < 0) return "not judged";
  return `most lost in the ${hours(found.grid.slot_seconds / 3600)} from ${slotBegin(found, worst, zone)} ${zoneName(zone)}, ${share(shares[worst])} of the judged hours`;
}

/** How many GPUs stand idle now, and what of it is known. */
export function idleWords({ running_jobs: running, judged_jobs: judged, not_asked_jobs: beyond, gpus, jobs_total: jobs }: Fleet["idle_now"]): string {
  if (running === 0) return "No job with GPUs runs.";
  const dark = running - judged - beyond;
  const found = gpus === 0 ? (judged === 0 ? "Not known yet." : `Every GPU of the ${count(judged)} judged running ${judged === 1 ? "job" : "jobs"} was used.`) : `${plural(gpus, "GPU")} of ${plural(jobs, "running job")} ${gpus === 1 ? "was" : "were"} held and never used.`;
  const unknown = dark > 0 ? ` ${plural(dark, "running job")} ${dark === 1 ? "is" : "are"} not judged yet.` : "";
  return `${found}${unknown}${beyond > 0 ? ` ${plural(beyond, "smaller job")} ${beyond === 1 ? "was" : "were"} not looked at.` : ""}`;
}
