import { address, ask, serviceMs } from "../api";
import { asEnd, asTime } from "../jobs/filters";
import type { components } from "../openapi";
import { valueOf } from "../query";

// The call of the fleet's page: the page's link as parameters.

export type Fleet = components["schemas"]["Fleet"];
export type FleetSums = components["schemas"]["FleetSums"];

export const kBy = [
  ["user", "User"],
  ["account", "Account"],
  ["group", "Group"],
  ["gpu", "GPU model"],
  ["job", "Job"],
  ["node", "Node"],
  ["cause", "Cause"],
] as const;
export type By = (typeof kBy)[number][0];

export const kSpans = [
  ["now-24h", "last 24 hours"],
  ["", "last 7 days"],
  ["now-30d", "last 30 days"],
  ["now-84d", "last 12 weeks"],
] as const;
/** Keys of the link that leave other jobs out. */
export const kFilters = ["user", "account", "group", "gpu", "node", "cause"] as const;

export function byOf(search: string): By {
  const asked = valueOf(search, "by", "user");
  return kBy.find(([by]) => by === asked)?.[0] ?? "user";
}

/** Ends are cut to minutes, so that the same view asks the same. */
export function parametersOf(search: string, nowMs: number): Record<string, string | null> {
  const value = Object.fromEntries(kFilters.map((key) => [key, valueOf(search, key)]));
  const minute = Math.floor(nowMs / 60_000) * 60_000;
  return {
    ...value,
    by: byOf(search),
    from: asTime(valueOf(search, "after", "now-7d"), minute),
    to: asEnd(valueOf(search, "before"), minute),
  };
}

export function readFleet(search: string, stop: AbortSignal): Promise<Fleet> {
  return ask(address("/fleet", parametersOf(search, serviceMs())), "rows", { stop });
}

export function csvAddress(search: string): string {
  return address("/fleet", { ...parametersOf(search, serviceMs()), format: "csv" });
}
