import type { Job, RankSteps } from "../model";
import type { Panel } from "./panels";
import type { Span } from "./view";

// The stalls of a training that a rule found, as marks on the charts of steps and GPUs.

export interface Stalls {
  /** The middle of each slow point of the curve. */
  readonly timesMs: readonly number[];
  readonly rule: string;
  readonly sentence: string;
}

const kRules: readonly string[] = ["PeriodicStall", "StepOutlier"];
const kSlow = 1.5; // times the median of the curve, as PeriodicStall has it of the steps before

/** The slow points of the rank's curve, where a rule found that its slow steps are an issue; else null. */
export function stallsOf(job: Job, found: RankSteps | undefined): Stalls | null {
  const [rule] = job.profiler_rule_evaluation_statuses
    .filter((each) => kRules.includes(each.rule) && each.rule_evaluation_status === "IssuesFound")
    .sort((a, b) => kRules.indexOf(a.rule) - kRules.indexOf(b.rule));
  if (rule === undefined || found === undefined) return null;
  const { start_us, wall_seconds, steps_per_point: many } = found.series;
  const sorted = wall_seconds.filter((wall) => wall !== null).sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? Infinity;
  const timesMs = start_us.flatMap((us, i) => {
    const wall = wall_seconds[i] ?? 0;
    return wall > kSlow * median ? [us / 1000 + 500 * wall * many] : [];
  });
  return { timesMs, rule: rule.rule_configuration_name, sentence: rule.verdict?.sentence ?? "" };
}

/** The number of slow places in a span: those of which the chart shows a mark. */
export const stallsIn = (stalls: Stalls | null | undefined, { fromMs, toMs }: Span): number =>
  stalls?.timesMs.filter((ms) => ms >= fromMs && ms <= toMs).length ?? 0;

/** Panels with the stalls on the chart of the GPUs. */
export function withStalls(panels: readonly Panel[], stalls: Stalls | null): readonly Panel[] {
  return panels.map((panel) => (panel.id === "gpu" ? { ...panel, stalls } : panel));
}
