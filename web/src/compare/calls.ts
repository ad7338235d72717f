import { address, ask } from "../api";
import type { JobStatus, JobVerdict } from "../model";

// The comparison of two jobs, as openapi.yaml describes it.

export interface ComparedJob {
  readonly name: string;
  readonly group: string;
  readonly status: JobStatus;
  readonly created_us: number;
  readonly duration_seconds: number | null;
  readonly nodes: number;
  readonly gpus: number;
  readonly ranks: number;
  readonly gpu_hours: number | null;
  readonly mean_gpu_util_percent: number | null;
  readonly mean_cpu_util_percent: number | null;
  readonly verdict: JobVerdict;
}

export interface ComparedSteps {
  readonly rank: number;
  readonly steps: number;
  readonly mean_seconds: number;
  readonly p50_seconds: number;
  readonly p95_seconds: number;
}

export interface StepChange {
  readonly verdict: "faster" | "slower" | "no clear difference" | "not enough data";
  readonly material: boolean;
  readonly percent: number | null;
  readonly low_percent: number | null;
  readonly high_percent: number | null;
  readonly noise_percent: number | null;
}

interface Differing {
  readonly a: string | null;
  readonly b: string | null;
}

export interface Comparison {
  readonly a: ComparedJob;
  readonly b: ComparedJob;
  readonly steps: { readonly a: ComparedSteps | null; readonly b: ComparedSteps | null; readonly change: StepChange };
  readonly phases: readonly { readonly phase: string; readonly a_seconds: number | null; readonly b_seconds: number | null }[];
  readonly budget: readonly { readonly cause: string; readonly words: string; readonly a_share: number | null; readonly b_share: number | null }[];
  readonly rules: readonly (Differing & { readonly rule_configuration_name: string })[];
  readonly differs: readonly (Differing & { readonly what: string })[];
}

export function compareJobs(a: string, b: string, stop: AbortSignal): Promise<Comparison> {
  return ask(address("/compare", { a, b }), "differs", { stop });
}
