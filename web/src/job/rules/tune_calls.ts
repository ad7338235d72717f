import { address, ask } from "../../api";
import type { Job, RuleChanges, RulePreview } from "../../model";

// The calls of the form of a rule's parameters.

/** Parameters of a rule as they are sent; null sets the default again. */
export type Given = Readonly<Record<string, number | string | null>>;

const path = (job: string) => `/jobs/${encodeURIComponent(job)}`;

/** Judges the stored data with other parameters, and stores nothing. */
export function previewRule(job: string, name: string, parameters: Given): Promise<RulePreview> {
  return ask(address(`${path(job)}/rules/preview`), "difference", { method: "POST", body: { name, parameters } });
}

export function changeRule(job: string, name: string, parameters: Given): Promise<Job> {
  const body = { configuration: { rules: [{ name, parameters }] } };
  return ask(address(path(job)), "profiler_rule_evaluation_statuses", { method: "PATCH", body });
}

export function readHistory(job: string, name: string, stop: AbortSignal): Promise<RuleChanges> {
  return ask(address(`${path(job)}/rules/${encodeURIComponent(name)}/transitions`, { limit: 100 }), "items", { stop });
}
