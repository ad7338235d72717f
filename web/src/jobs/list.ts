import { type ReadonlySignal, signal } from "@preact/signals";
import { clockAheadMs, listJobs, serviceMs } from "../api";
import type { JobItem, JobPage } from "../model";
import { type Poll, poll } from "../poll";
import { valueOf } from "../query";
import { asParameters, matches } from "./filters";

// The list of jobs in one view, kept fresh. Rows never jump: the jobs on screen are updated in place,
// and new jobs wait until the reader asks for them. A job that the newest answer has no more is read by
// its name, so that its row tells what became of it.

const kPeriodMs = 5000;
const kMostRead = 8; // jobs read by their names at a time: as many as one batch takes

/** A job on screen; `left` says why it is no longer among those that were asked for. */
export interface Row extends JobItem {
  readonly left?: "changed" | "deleted";
}

export interface ShownPage extends Omit<JobPage, "items"> {
  readonly items: readonly Row[];
}

export interface List {
  readonly page: ReadonlySignal<ShownPage | null>;
  /** The page still shows the jobs of the filters before. */
  readonly stale: ReadonlySignal<boolean>;
  readonly fresh: ReadonlySignal<number>;
  readonly poll: Poll;
  showFresh(): void;
}

/** The jobs that were read by their names; null where there is none of the name any more. */
type Found = ReadonlyMap<string, JobItem | null>;

function asFound(row: Row, found: JobItem | null | undefined, search: string): Row {
  if (found === undefined) return row; // its turn comes later
  if (found === null) return { ...row, left: "deleted" };
  return matches(search, found) ? found : { ...found, left: "changed" };
}

/** The jobs of `shown` as `latest` describes them, the others as they were found by name; and the number of jobs in `latest` that are not shown. */
export function merge(shown: ShownPage, latest: JobPage, found: Found = new Map(), search = ""): { readonly page: ShownPage; readonly fresh: number } {
  const byName = new Map(latest.items.map((job) => [job.name, job]));
  const items = shown.items.map((row) => byName.get(row.name) ?? asFound(row, found.get(row.name), search));
  const known = new Set(shown.items.map(({ name }) => name));
  const fresh = latest.items.filter(({ name }) => !known.has(name)).length;
  return { page: { ...shown, items, total: latest.total }, fresh };
}

/**
 * The jobs on screen that `latest` has no more and that are to be read now, the longest unread first. A job that has ended is read once,
 * to see whether it was deleted. `rounds` says in which round a job was read last.
 */
export function missing(shown: ShownPage, latest: JobPage, rounds: ReadonlyMap<string, number>): readonly Row[] {
  const listed = new Set(latest.items.map(({ name }) => name));
  const round = ({ name }: Row) => rounds.get(name) ?? 0;
  const unsettled = shown.items.filter((row) => !listed.has(row.name) && row.left !== "deleted" && (row.ended_us === null || round(row) === 0));
  return unsettled.sort((a, b) => round(a) - round(b)).slice(0, kMostRead);
}

/** The job of this name as the list describes it. Jobs whose names contain it were created later or stand after it. */
async function readByName({ name, created }: JobItem, stop: AbortSignal): Promise<JobItem | null> {
  const { items } = await listJobs({ name_contains: name, created_after: created, sort: "created", limit: 20 }, stop);
  return items.find((job) => job.name === name) ?? null;
}

const kMatterMs = 3000; // less does not change what "last hour" means

/** The jobs that the link asks for now. The first answer tells the service's time; where this browser's was wrong, they are asked for again. */
async function listNow(search: string, stop: AbortSignal): Promise<JobPage> {
  const ahead = clockAheadMs.peek();
  const asked = asParameters(search, serviceMs());
  const found = await listJobs(asked, stop);
  const timed = asked["created_after"] !== null || asked["created_before"] !== null;
  return timed && Math.abs(clockAheadMs.peek() - ahead) > kMatterMs ? listJobs(asParameters(search, serviceMs()), stop) : found;
}

export function openList(search: string, before: ShownPage | null): List {
  const page = signal(before);
  const stale = signal(before !== null);
  const fresh = signal(0);
  const rounds = new Map<string, number>();
  let latest: JobPage | null = null;
  const first = valueOf(search, "cursor") === "";

  const find = async (rows: readonly Row[], stop: AbortSignal): Promise<Found> => {
    const found = await Promise.all(rows.map(async (row) => [row.name, await readByName(row, stop)] as const));
    const round = 1 + Math.max(0, ...rounds.values());
    for (const [name] of found) rounds.set(name, round);
    return new Map(found);
  };

  const ask = async (stop: AbortSignal) => {
    const asked = await listNow(search, stop);
    latest = asked;
    const shown = page.peek();
    if (shown === null || stale.peek() || shown.items.length === 0) {
      page.value = latest;
      stale.value = false;
      return;
    }
    for (const { name } of asked.items) rounds.delete(name);
    const found = await find(missing(shown, asked, rounds), stop);
    if (page.peek() !== shown) return; // the reader asked for the new jobs meanwhile
    const merged = merge(shown, asked, found, search);
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
