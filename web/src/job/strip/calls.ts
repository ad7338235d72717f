import { address, askAhead, jobPath } from "../../api";

// What the strip of the whole job is asked for. It is asked together with the charts below it, while the strip's own program is loaded.

/** The metric that tells the epoch, where a training sends it. */
export const kEpoch = "user.epoch";
export const kWholeJob = { metric: `gpu_util_percent,node_cpu_percent,${kEpoch}`, points: 360, fold: "metric" } as const;

/** The lists that have marks of the strip, and the most items that are read of each. */
export const kLists = [["findings", 500], ["windows", 100], ["events", 200]] as const;

export const listAddress = (job: string, [list, limit]: (typeof kLists)[number]): string => address(`${jobPath(job)}/${list}`, { limit });

let asked = ""; // the job that this page asked for last

/** Asks ahead, once for a job; also for its use, where the charts show a part of it or something else. */
export function askForStrip(job: string, withUse: boolean): void {
  if (asked === job) return;
  asked = job;
  for (const list of kLists) askAhead(listAddress(job, list), "items");
  if (withUse) askAhead(address(`${jobPath(job)}/metrics`, { ...kWholeJob, times: "runs" }), "series");
}
