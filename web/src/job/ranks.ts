import type { Job, Metrics, Steps } from "../model";
import { numberOf } from "../query";

// Jobs with more ranks and nodes than a person looks at one by one.

/** From a job with more ranks the page reads this many, evenly chosen by the service, or only the rank that the link names. */
const kMostRanks = 8;

/** The rank that the link chooses, where the page does not read all. */
export function rankAskedFor(job: Job, query: string): number | null {
  const chosen = numberOf(query, "rank");
  const known = job.ranks.length > kMostRanks && job.ranks.some(({ rank }) => rank === chosen);
  return known ? chosen : null;
}

export function stepsQuery(job: Job, rank: number | null): { readonly rank?: number; readonly most?: number } {
  if (job.ranks.length <= kMostRanks) return {};
  return rank === null ? { most: kMostRanks } : { rank };
}

/** All ranks of the job, also those that were not read. */
export function ranksToChoose(job: Job, steps: Steps): readonly number[] {
  const known = new Set([...steps.ranks, ...job.ranks].map(({ rank }) => rank));
  return [...known].sort((a, b) => a - b);
}

export function ranksNote({ ranks, left_out }: Steps): string {
  return left_out > 0 ? `${ranks.length} of ${ranks.length + left_out} ranks read` : "";
}

/** The nodes that have samples; folded series only tell their number. */
export function sampledNodes(job: Job, metrics: Metrics): { readonly many: number; readonly missing: readonly string[] } {
  const folded = metrics.series.filter(({ metric }) => metric === "memory_used_percent").map((series) => series.of);
  if (metrics.series.some((series) => series.of !== undefined)) return { many: folded[0] ?? job.nodes.length, missing: [] };
  const seen = new Set(metrics.series.map(({ node }) => node));
  return { many: seen.size, missing: job.nodes.filter(({ name }) => !seen.has(name)).map(({ name }) => name) };
}
