import { signal } from "@preact/signals";
import { numberOf } from "../query";
import { search, setKeys } from "../router";

// The moment that all pictures of a job's page point at: where the pointer is, and the one that the link has pinned.

/** Where the pointer is, in ms since the epoch; null where it is on no picture of time. */
export const cursorMs = signal<number | null>(null);

/** The pinned moment, in ms since the epoch; the link has it as `at`, in ms from the job's start. */
export function pinnedMs(startMs: number): number | null {
  const at = numberOf(search.value, "at");
  return at === null ? null : startMs + at;
}

/** Pins a moment; null takes the pin out. It leaves no entry for Back. */
export function pin(ms: number | null, startMs: number): void {
  setKeys({ at: ms === null ? null : `${Math.round(ms - startMs)}` }, true);
}
