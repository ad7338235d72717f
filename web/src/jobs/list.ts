import { type ReadonlySignal, signal } from "@preact/signals";
import { listJobs } from "../api";
import type { JobItem, JobPage } from "../model";
import { type Poll, poll } from "../poll";
import { valueOf } from "../query";
import { asParameters } from "./filters";

// The list of jobs in one view, kept fresh. Rows never jump: the jobs on screen are updated in place,
// and new jobs wait until the reader asks for them.

const kPeriodMs = 5000;

export interface List {
  readonly page: ReadonlySignal<JobPage | null>;
  /** The page still shows the jobs of the filters before. */
  readonly stale: ReadonlySignal<boolean>;
  readonly fresh: ReadonlySignal<number>;
  readonly poll: Poll;
  showFresh(): void;
}

/** The jobs of `shown` as `latest` describes them, and the number of jobs in `latest` that are not shown. */
export function merge(shown: JobPage, latest: JobPage): { readonly page: JobPage; readonly fresh: number } {
  const byName = new Map(latest.items.map((job) => [job.name, job]));
  const items: JobItem[] = shown.items.map((job) => byName.get(job.name) ?? job);
  const known = new Set(shown.items.map(({ name }) => name));
  const fresh = latest.items.filter(({ name }) => !known.has(name)).length;
  return { page: { ...shown, items }, fresh };
}

export function openList(search: string, before: JobPage | null): List {
  const page = signal(before);
  const stale = signal(before !== null);
  const fresh = signal(0);
  let latest: JobPage | null = null;
  const first = valueOf(search, "cursor") === "";

  const ask = async (stop: AbortSignal) => {
    latest = await listJobs(asParameters(search, Date.now()), stop);
    const shown = page.peek();
    if (shown === null || stale.peek() || shown.items.length === 0) {
      page.value = latest;
      stale.value = false;
      return;
    }
    const merged = merge(shown, latest);
    page.value = merged.page;
    fresh.value = first ? merged.fresh : 0;
  };

  return {
    page,
    stale,
    fresh,
    poll: poll(ask, () => kPeriodMs),
    showFresh: () => {
      page.value = latest;
      fresh.value = 0;
    },
  };
}
