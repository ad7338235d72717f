import type { Finding, JudgedRule } from "./model";

// The report of a job, as openapi.yaml says; only what the page shows of it.

interface ReportPart {
  readonly seconds: number;
  readonly percent: number;
}

export interface ReportRule {
  readonly rule: JudgedRule;
  readonly triggers: number;
  readonly findings: readonly Finding[];
}

export interface Report {
  readonly as_of_us: number;
  readonly job: { readonly running: boolean };
  readonly summary: {
    readonly start_us: number;
    readonly end_us: number | null;
    readonly duration_seconds: number;
    readonly initialisation: ReportPart | null;
    readonly training_loop: ReportPart | null;
    readonly evaluation: ReportPart | null;
    readonly finalisation: ReportPart | null;
  };
  readonly measured: {
    readonly from_us: number;
    readonly to_us: number;
    readonly interval_ms: number;
    readonly lost_frames: number;
    readonly rejected_frames: number;
    readonly dropped_marks: number;
  };
  readonly rules: readonly ReportRule[];
  readonly method: readonly { readonly number: string; readonly formula: string; readonly source: string }[];
}
