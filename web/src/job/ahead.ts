import { askAheadForJob } from "../api";
import { valueOf } from "../query";
import type { Tab } from "../tabs";
import { hasSteps, stepsQuery } from "./ranks";

/** Asks for what the address of a job's page tells that it needs, before its program is loaded. */
export function startAhead(name: string, tab: Tab, query: string): void {
  const charts = hasSteps(tab);
  const steps = charts && valueOf(query, "rank") === "" ? stepsQuery(tab, null) : null;
  askAheadForJob(name, { charts, everyMetric: tab === "system", steps });
}
