import type { components } from "./openapi";

// The report of a job, as openapi.yaml says.

export type Report = components["schemas"]["Report"];
export type ReportRule = components["schemas"]["ReportRule"];
