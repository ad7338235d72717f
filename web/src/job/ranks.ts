import type { Job, Metrics, Steps } from "../model";
import { numberOf } from "../query";
import type { Tab } from "../tabs";

// Whose steps are read, of jobs with more ranks and nodes than a person looks at one by one.

/** Steps compares ranks. From a job with more ranks it reads this many, evenly chosen by the service, or only the rank that the link names. */
const kMostRanks = 8;

export const hasSteps = (tab: Tab): boolean => tab === "overview" || tab === "system" || tab === "steps";

/** The rank that the link chooses, where this part of the page does not read all. */
export function rankAskedFor(job: Job, tab: Tab, query: string): number | null {
  const chosen = numberOf(query, "rank");
  const one = tab !== "steps" || job.ranks.length > kMostRanks;
  return one && job.ranks.some(({ rank }) => rank === chosen) ? chosen : null;
}

/** What is asked for: one rank where only one is drawn. */
export function stepsQuery(tab: Tab, rank: number | null): { readonly rank?: number; readonly most?: number } {
  return rank === null ? { most: tab === "steps" ? kMostRanks : 1 } : { rank };
}

/** All ranks of the job, also those that were not read. */
export function ranksToChoose(job: Job, steps: Steps): readonly number[] {
  const known = new Set([...steps.ranks, ...job.ranks].map(({ rank }) => rank));
  return [...known].sort((a, b) => a - b);
}

/** The nodes that have samples; folded series only tell their number. */
export function sampledNodes(job: Job, metrics: Metrics): { readonly many: number; readonly missing: readonly string[] } {
  const folded = metrics.series.filter(({ metric }) => metric === "memory_used_percent").map((series) => series.of);
  if (metrics.series.some((series) => series.of !== undefined)) return { many: folded[0] ?? job.nodes.length, missing: [] };
  const seen = new Set(metrics.series.map(({ node }) => node));
  return { many: seen.size, missing: job.nodes.filter(({ name }) => !seen.has(name)).map(({ name }) => name) };
}
