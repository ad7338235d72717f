import type { components } from "./openapi";

// The answers of the service: names for the types that are made of openapi.yaml (npm run types). null in a list of numbers is a gap.

type Schemas = components["schemas"];

export type JobStatus = Schemas["JobStatus"];
export type RuleStatus = Schemas["RuleStatus"];
/** unknown: there was too little to judge by. */
export type JobVerdict = Schemas["JobVerdict"];
export type Values = Schemas["Numbers"];

export type JobItem = Schemas["JobListItem"];
export type JobPage = Schemas["JobPage"];
export type JobNode = Schemas["Node"];
export type Job = Schemas["JobDescription"];
export type Failure = NonNullable<Job["failure"]>;
export type Transition = Job["secondary_status_transitions"][number];
export type RuleEvaluation = Schemas["RuleEvaluation"];
export type JudgedRule = Schemas["JudgedRule"];

/** The budget of a job's time: the busy share first, then each cause of lost time, the largest first. */
export type Diagnosis = NonNullable<Schemas["DiagnosisInShort"]>;
/** The phases of a job in seconds; the training is told without evaluations. */
export type JobParts = NonNullable<Diagnosis["parts"]>;
export type Cause = Diagnosis["budget"][number];

export type SentSeries = Schemas["Metrics"]["series"][number];
/** A series whose times are each there, as runs.ts makes them, with all of its columns. */
export type Series = Omit<SentSeries, "times_us" | "runs" | "min" | "mean" | "max"> & {
  readonly times_us: readonly number[];
  readonly min: Values;
  readonly mean: Values;
  readonly max: Values;
};
export type Metrics = Omit<Schemas["Metrics"], "series"> & { readonly series: readonly Series[] };

type SentSteps = Schemas["StepSummary"];
/** A rank's steps, as far as they are drawn: single steps, which take the place of a curve, have no more of the GPU's clock. */
export type RankSteps = Omit<SentSteps, "gpu" | "series"> & {
  readonly series: Omit<SentSteps["series"], "start">;
  readonly gpu: { readonly series: Pick<NonNullable<SentSteps["gpu"]>["series"], "idle_seconds"> } | null;
};
export type Steps = Omit<Schemas["StepSummaries"], "ranks"> & { readonly ranks: readonly RankSteps[] };
/** A histogram: counts between edges, of which there is one more; both are empty when nothing was counted. */
export type Distribution = RankSteps["histogram"];
export type Annotation = RankSteps["annotations"][number];
/** Single steps of a rank; `next` is null when these are all. */
export type StepRows = Schemas["StepRows"];

export type RuleType = Schemas["RuleCatalog"]["items"][number];
/** A parameter of a rule. A text has neither minimum nor maximum; a parameter without a default must be given. */
export type RuleParameter = RuleType["parameters"][number];
/** The verdict that a rule would give with other parameters. */
export type RulePreview = Schemas["RulePreview"];
/** Changes of a rule's status; a list has the newest last. */
export type RuleChanges = Schemas["RuleTransitionPage"];
export type RuleChange = RuleChanges["items"][number];

export type Role = Schemas["Role"];
/** No scopes: all jobs. */
export type Session = Schemas["CurrentSession"];
/** One stretch of time in which a rule fired. */
export type Finding = Schemas["Finding"];
/** A byte for each row and column, row by row, in base64: `low + byte * (high - low) / 254`; 255 where nothing was measured. */
export type Heatmap = Schemas["Heatmap"];
