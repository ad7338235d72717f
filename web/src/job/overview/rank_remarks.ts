import type { Job } from "../../model";

// Remarks of the processes of ranks about themselves which a reader must know, in plain words; ranks that say the same share a line.

const kMostNamed = 8; // ranks that a line names

type Facts = Readonly<Record<string, unknown>>;

function deviceRemark(type: string, clock: string): string {
  if (type === "cpu") return "computes on the CPU";
  return clock === "" ? "" : `the GPU’s own clock: ${clock}`;
}

function remarksOf(facts: Facts): readonly string[] {
  const text = (name: string) => (typeof facts[name] === "string" ? facts[name] : "");
  return [
    text("second_process"),
    text("loader_thread") === "another" ? "another thread reads the batches, so waits for data are not seen" : "",
    deviceRemark(text("device_type"), text("gpu_clock")),
  ].filter(Boolean);
}

function named(ranks: readonly number[]): string {
  const shown = ranks.slice(0, kMostNamed).join(", ");
  const more = ranks.length > kMostNamed ? ` and ${ranks.length - kMostNamed} more` : "";
  return `${ranks.length === 1 ? "Rank" : "Ranks"} ${shown}${more}`;
}

export function rankRemarks(job: Job): readonly string[] {
  const ranks = new Map<string, number[]>();
  for (const { rank, facts } of job.ranks) {
    for (const remark of remarksOf(facts ?? {})) ranks.set(remark, [...(ranks.get(remark) ?? []), rank]);
  }
  return [...ranks].map(([remark, those]) => `${named(those)}: ${remark}.`);
}
