import { plural, share } from "../../format";
import type { Cause, Diagnosis } from "../../model";
import { namedCauses } from "./stages";

// The verdict in words.

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The verdict in one sentence. */
export function headlineOf(found: Diagnosis, running: boolean): string {
  const [first] = namedCauses(found);
  const soFar = (text: string) => (running ? `So far, ${text}` : capital(text));
  if (first === undefined) {
    const busy = found.budget.find(({ cause }) => cause === "busy")?.share ?? null;
    return soFar(`no bottleneck is seen: ${share(busy)} of the training’s time was computing.`);
  }
  if (first.cause === "unknown") return soFar(`nothing measured explains ${share(first.share)} of the training’s time.`);
  return soFar(`${share(first.share)} of the training’s time was lost to ${first.words}.`);
}

/** What doing away with the cause could gain at most. */
export function gainOf({ speed_up }: Cause): string {
  return speed_up === null ? "" : `Without this time the training would be up to ${speed_up.toFixed(speed_up < 1.15 ? 2 : 1)} times as fast.`;
}

/** What the time was divided by. */
export function seenBy({ confidence, steps }: Diagnosis): string {
  if (confidence === "host only") return "Seen from the hosts only: no steps were reported.";
  if (confidence === "windows only") return "Seen in windows of traces alone: the time is that of their steps.";
  if (confidence === "steps seen in part") return "Seen by the phases of the steps, but for what is named as not seen.";
  if (confidence === "steps seen") return "Seen by the phases of the steps.";
  return `Seen by the phases of ${plural(steps, "step")} after the first: too few to be sure, 20 are needed.`;
}

/** By whose clock the time was divided, and how much of the steps is told by name. */
export function groundOf({ clock, unit, named_share }: Diagnosis): string {
  const whose = unit === "gpu_seconds" ? "Idle time of the GPUs is measured by" : "Measured by";
  const clocks = { gpu: "the GPU’s own clock", host: "the host’s clock" };
  const sentences = [clock ? `${whose} ${clocks[clock]}.` : "", named_share === null || named_share === undefined ? "" : `Phases with a name cover ${share(named_share)} of the step time.`];
  return sentences.filter(Boolean).join(" ");
}
