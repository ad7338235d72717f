import { ask } from "../api";

/** Whether the service can do its work; the checks are left out for those who may not see them. */
export interface Readiness {
  readonly status: "ready" | "not-ready";
  readonly version?: string;
  readonly checks?: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
}

/** A service that is not ready answers 503, with the reasons. */
export function readReadiness(stop: AbortSignal): Promise<Readiness> {
  return ask("/readyz", "status", { stop, also: 503 });
}
