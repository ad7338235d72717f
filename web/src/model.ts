// The answers of the service, as openapi.yaml says. null in a list of numbers is a gap.

export type JobStatus = "InProgress" | "Completed" | "Failed" | "Stopping" | "Stopped";
export type RuleStatus =
  "InProgress" | "NoIssuesFound" | "IssuesFound" | "Error" | "Stopping" | "Stopped";
/** unknown: there was too little to judge by. */
export type JobVerdict = "issues" | "none" | "unknown";
export type Values = readonly (number | null)[];

export interface JobItem {
  readonly name: string;
  readonly group: string | null;
  readonly status: JobStatus;
  readonly secondary_status: string | null;
  readonly created_us: number;
  readonly started_us: number | null;
  readonly ended_us: number | null;
  readonly duration_seconds: number | null;
  readonly nodes: number;
  readonly gpus: number;
  readonly mean_gpu_util_percent: number | null;
  readonly gpu_util_sparkline: Values | null;
  readonly mean_cpu_util_percent: number | null;
  readonly cpu_util_sparkline: Values | null;
  readonly median_step_seconds: number | null;
  readonly verdict: JobVerdict;
  readonly rules_in_trouble: readonly string[];
}

export interface JobPage {
  readonly items: readonly JobItem[];
  readonly next: string | null;
  readonly total: number;
}

export interface Failure {
  readonly node: string | null;
  readonly exit_code: number | null;
  readonly signal: number | null;
  readonly output: readonly string[];
}

export interface JobNode {
  readonly name: string;
  readonly cores: number | null;
  readonly memory_bytes: number | null;
  readonly gpus: readonly unknown[] | null;
  readonly last_seen_us: number | null;
  readonly ended_us: number | null;
  readonly exit_code: number | null;
  readonly signal: number | null;
  readonly clock_offset_us: number | null;
  readonly clock_suspect?: { readonly since_us: number; readonly until_us: number | null; readonly offset_us: number } | null; // older services leave it out
  readonly absent: readonly { readonly source: string; readonly reason: string }[] | null;
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface Transition {
  readonly status: string;
  readonly secondary_status: string | null;
  readonly start_time_us: number;
  readonly message: string | null;
}

export interface RuleEvaluation {
  readonly rule_configuration_name: string;
  readonly rule: string;
  readonly rule_evaluation_status: RuleStatus;
  readonly status_details: string | null;
  readonly last_modified_time_us: number | null;
  readonly verdict: { readonly kind: string; readonly sentence: string } | null;
  readonly share: number | null;
  readonly severity: string | null;
  readonly active: boolean | null;
}

export interface JudgedRule extends RuleEvaluation {
  readonly parameters: Readonly<Record<string, number | string>>;
}

/** The phases of a job in seconds. */
export interface JobParts {
  readonly initialisation: number;
  readonly training: number; // without evaluations
  readonly evaluation: number;
  readonly finalisation: number;
}

/** The budget of a job's time: the busy share first, then each cause of lost time, the largest first. */
export interface Diagnosis {
  readonly sentence: string;
  readonly unit: string;
  readonly total_seconds: number;
  readonly confidence: string;
  readonly threshold: number; // percent
  readonly clock: "gpu" | "host" | null;
  readonly named_share: number | null;
  readonly missing: readonly string[] | null;
  readonly parts: JobParts | null;
  readonly budget: readonly Cause[];
}

export interface Cause {
  readonly cause: string;
  readonly words: string;
  readonly share: number;
  readonly speed_up: number | null;
  readonly stage: number | null;
  readonly suspect: string | null;
  readonly advice: string | null;
}

export interface Job {
  readonly name: string;
  readonly group: string | null;
  readonly status: JobStatus;
  readonly secondary_status: string | null;
  readonly created_us: number;
  readonly started_us: number | null;
  readonly ended_us: number | null;
  readonly samples_from_us: number | null; // earlier ones were removed
  readonly failure: Failure | null;
  readonly configuration: Readonly<Record<string, unknown>> | null;
  readonly nodes: readonly JobNode[];
  readonly ranks: readonly { readonly rank: number; readonly node: string | null; readonly framework?: string | null; readonly facts?: Readonly<Record<string, unknown>> }[];
  readonly secondary_status_transitions: readonly Transition[];
  readonly profiler_rule_evaluation_statuses: readonly RuleEvaluation[];
  readonly verdict: JobVerdict;
  readonly diagnosis: Diagnosis | null;
}

export interface Series {
  readonly metric: string;
  readonly node: string;
  readonly device: string;
  readonly unit: string;
  readonly times_us: readonly number[];
  readonly min: Values;
  readonly mean: Values;
  readonly max: Values;
  readonly sum?: Values; // only in a folded series, which stands for `of` series
  readonly of?: number;
}

export interface Metrics {
  readonly interval_ms: number;
  readonly bin_us: number;
  readonly from_us: number | null;
  readonly to_us: number | null;
  readonly cursor: string | null;
  readonly agents: readonly { readonly node: string; readonly last_seen_us: number | null }[];
  readonly series: readonly Series[];
}

/** A histogram: counts between edges, of which there is one more; both are empty when nothing was counted. */
export interface Distribution {
  readonly edges_seconds: readonly number[];
  readonly counts: readonly number[];
}

export interface Annotation {
  readonly name: string;
  readonly count: number;
  readonly total_seconds: number;
  readonly mean_seconds: number;
  readonly min_seconds: number;
  readonly max_seconds: number;
  readonly histogram: Distribution;
}

export interface RankSteps {
  readonly rank: number;
  readonly node: string | null;
  readonly steps: number;
  readonly wall_seconds: Readonly<
    Record<"mean" | "max" | "p99" | "p95" | "p50" | "min", number | null>> | null;
  readonly histogram: Distribution;
  readonly annotations: readonly Annotation[];
  readonly phases: readonly {
    readonly phase: string;
    readonly total_seconds: number;
    readonly share_percent: number;
  }[];
  readonly series: {
    readonly steps_per_point: number;
    readonly step: readonly number[];
    readonly start_us: readonly number[];
    readonly wall_seconds: Values;
    readonly data_seconds: Values;
    readonly phases_seconds: Readonly<Record<string, Values>>;
  };
  /** By the clock of the GPU, at the points of `series`; null where it is known for no step. */
  readonly gpu: { readonly series: { readonly idle_seconds: Values } } | null;
}

export interface Steps {
  readonly ranks: readonly RankSteps[];
  readonly left_out: number; // ranks that were not read
}

/** Single steps of a rank; `next` is null when these are all. */
export interface StepRows {
  readonly items: readonly {
    readonly step: number;
    readonly start_us: number;
    readonly wall_seconds: number;
    readonly phases_seconds: Readonly<Record<string, number>>;
    readonly gpu: { readonly idle_seconds: number } | null;
  }[];
  readonly next: string | null;
}

/** A parameter of a rule. A text has neither minimum nor maximum; a parameter without a default must be given. */
export interface RuleParameter {
  readonly name: string;
  readonly default: number | string | null;
  readonly minimum: number | null;
  readonly maximum: number | null;
  readonly unit: string;
  readonly help: string;
}

export interface RuleType {
  readonly name: string;
  readonly sentence?: string;
  readonly fires?: string;
  readonly advice?: string;
  readonly parameters: readonly RuleParameter[];
}

/** The verdict that a rule would give with other parameters. */
export interface RulePreview {
  readonly rule_evaluation_status: RuleStatus;
  readonly verdict: { readonly kind: string; readonly sentence: string };
  readonly share: number | null;
  readonly judged: { readonly complete: boolean; readonly sentence: string };
  readonly findings_total: number;
  readonly difference: string;
}

/** One change of a rule's status; a list has the newest last. */
export interface RuleChange {
  readonly status: RuleStatus;
  readonly start_time_us: number;
  readonly message: string;
}
export interface RuleChanges {
  readonly items: readonly RuleChange[];
  readonly total: number;
}

export type Role = "agent" | "reader" | "operator" | "admin";

export interface Session {
  readonly name: string;
  readonly role: Role;
  readonly scopes: readonly string[]; // none: all jobs
  readonly expires_us: number | null;
  readonly access?: "tokens" | "open"; // open: nobody has to sign in
}

/** One stretch of time in which a rule fired. */
export interface Finding {
  readonly rule_configuration_name: string;
  readonly finding: number;
  readonly from_us: number;
  readonly to_us: number;
  readonly node: string | null;
  readonly device: string | null;
  readonly rank: number | null;
  readonly sentence: string;
}

/** A byte for each row and column, row by row, in base64: `low + byte * (high - low) / 254`; 255 where nothing was measured. */
export interface Heatmap {
  readonly metric: string;
  readonly unit: string;
  readonly bin_us: number;
  readonly times_us: readonly number[];
  readonly rows: readonly { readonly node: string; readonly device: string }[];
  readonly left_out: number;
  readonly low: number;
  readonly high: number;
  readonly matrix: string;
}
