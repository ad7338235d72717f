import type { Cause, Diagnosis } from "../../model";
import type { Tab } from "../../tabs";

// The eight stages that a step of a training passes, each with its part of the training's time.

export interface Stage {
  readonly number: number;
  readonly word: string;
  /** Part of the training's time that was lost here, from 0 to 1. */
  readonly lost: number;
  /** Part of the training's time that was computing; only of the stage that computes. */
  readonly busy: number;
  /** The causes of the lost time, the largest first. */
  readonly causes: readonly Cause[];
  /** The suspect, where most of the lost time was lost in this stage and it is more than the threshold. */
  readonly suspect: string | null;
  readonly evidence: Evidence;
}

/** Where the numbers behind a stage or a cause are: a part of the page, and one of its charts; of the heat map a metric. */
export interface Evidence {
  readonly tab: Tab;
  readonly chart: string;
}

interface StageRow {
  readonly word: string;
  readonly evidence: Evidence;
}

const kComputing = 4;
const kStages: readonly StageRow[] = [
  { word: "Read data", evidence: { tab: "system", chart: "disk" } },
  { word: "Prepare batches", evidence: { tab: "steps", chart: "phases" } },
  { word: "Copy to GPU", evidence: { tab: "steps", chart: "phases" } },
  { word: "Forward, backward", evidence: { tab: "steps", chart: "phases" } },
  { word: "Share gradients", evidence: { tab: "steps", chart: "phases" } },
  { word: "Copy from GPU", evidence: { tab: "steps", chart: "phases" } },
  { word: "Callbacks, logs", evidence: { tab: "steps", chart: "steps" } },
  { word: "Save", evidence: { tab: "steps", chart: "steps" } },
];

/** The evidence of causes that have no stage, or other evidence than their stage. */
const kOwn: Readonly<Record<string, Evidence>> = {
  throttled: { tab: "system", chart: "groupcpu" },
  evaluation: { tab: "steps", chart: "steps" },
  // GPUs without work, or with too little: the heat map tells which of them.
  on_cpu: { tab: "heatmap", chart: "gpu_util_percent" },
  under_use: { tab: "heatmap", chart: "gpu_util_percent" },
};

/** The lost time that the diagnosis names in its sentence: above the threshold, the largest first. */
export function namedCauses({ budget, threshold }: Diagnosis): readonly Cause[] {
  return budget.filter(({ cause, share }) => cause !== "busy" && 100 * share > threshold);
}

export function evidenceOf({ cause, stage }: Pick<Cause, "cause" | "stage">): Evidence {
  return (Object.hasOwn(kOwn, cause) ? kOwn[cause] : undefined) ?? kStages[(stage ?? 0) - 1]?.evidence ?? { tab: "steps", chart: "phases" };
}

/** The eight stages in their order. Shares are of the same total as the budget's. */
export function stagesOf(found: Diagnosis): readonly Stage[] {
  const [first] = namedCauses(found);
  return kStages.map(({ word, evidence }, i) => {
    const number = i + 1;
    const causes = found.budget.filter(({ stage }) => stage === number);
    return {
      number, word, causes, evidence: causes[0] ? evidenceOf(causes[0]) : evidence,
      lost: causes.reduce((sum, { share }) => sum + share, 0),
      busy: number === kComputing ? (found.budget.find(({ cause }) => cause === "busy")?.share ?? 0) : 0,
      suspect: first?.stage === number ? (first.suspect ?? first.words) : null,
    };
  });
}

/** Lost time that belongs to none of the eight stages, the largest first. */
export function outsideOf({ budget }: Diagnosis): readonly Cause[] {
  return budget.filter(({ cause, stage, share }) => cause !== "busy" && stage === null && share > 0);
}
