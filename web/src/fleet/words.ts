import { hours, percent, share } from "../format";
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

/** How the weeks went, for the chart's caption. */
export function trendOf(weeks: Fleet["weeks"]): string {
  const held = weeks.filter(({ sums }) => sums.judged_gpu_hours > 0);
  if (held.length === 0) return "No week of these has judged hours.";
  const part = (sums: FleetSums) => sums.lost_gpu_hours / sums.judged_gpu_hours;
  const worst = held.reduce((a, b) => (part(b.sums) > part(a.sums) ? b : a));
  const last = held[held.length - 1] ?? worst;
  return `Lost of the judged hours: ${share(part(last.sums))} in the week until ${last.to.slice(0, 10)}; at most ${share(part(worst.sums))}, in the week until ${worst.to.slice(0, 10)}.`;
}
