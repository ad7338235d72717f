import type { RankSteps, Steps } from "../../model";
import type { Panel } from "../panels";
import type { Trace } from "../traces";

// The chart of a rank's steps: how long they took.

/** Whether any step reports its wait for data. Steps that do not may have waited all the same. */
const tellsOfWaits = ({ series }: RankSteps) => series.phases_seconds["data"] !== undefined;

function stepNote(found: RankSteps): string {
  const { rank, node, series } = found;
  const many = series.steps_per_point;
  const unseen = tellsOfWaits(found) ? "" : "; no step tells of a wait for data";
  return `rank ${rank}${node === null ? "" : ` on ${node}`}${many > 1 ? `, mean of ${many} steps a point` : ""}${unseen}`;
}

/** The pause after each point that is common between steps of this rank, in ms. */
function usualPauseMs(pausesMs: readonly number[]): number {
  const sorted = [...pausesMs].sort((a, b) => a - b);
  return Math.max(0, sorted[Math.floor((sorted.length - 1) / 2)] ?? 0);
}

/**
 * When each point ends, in ms: a step is as wide as it lasted. Several steps of a point reach to the next one with the short pauses
 * between them, but not over a pause that is clearly longer, such as that of a restart.
 */
export function endsOf({ series }: RankSteps): readonly number[] {
  const { start_us, wall_seconds, steps_per_point: many } = series;
  const lastedMs = start_us.map((_, i) => 1000 * (wall_seconds[i] ?? 0) * many);
  const ownEnd = (i: number) => (start_us[i] ?? 0) / 1000 + (lastedMs[i] ?? 0);
  const pauseMs = (i: number) => (start_us[i + 1] ?? Infinity) / 1000 - ownEnd(i);
  const usual = many > 1 ? usualPauseMs(start_us.slice(1).map((_, i) => pauseMs(i))) : 0;
  return start_us.map((_, i) => {
    const next = start_us[i + 1];
    if (next === undefined) return ownEnd(i);
    const short = Math.max(3 * usual, (lastedMs[i] ?? 0) / 10);
    return pauseMs(i) < short ? next / 1000 : ownEnd(i);
  });
}

/** The rank that is shown: the chosen one, or the first. */
export function rankShown(steps: Steps, rank: number): RankSteps | undefined {
  return steps.ranks.find((each) => each.rank === rank) ?? steps.ranks[0];
}

/** The chart of a rank's step times; it says why it is empty where no rank told of steps. */
export function stepPanel(found: RankSteps | undefined): Panel {
  const timesMs = (found?.series.start_us ?? []).map((us) => us / 1000);
  const shared = { timesMs, low: null, high: null };
  const drawn = found && timesMs.length > 0 ? found : undefined;
  const traces: readonly Trace[] = drawn === undefined ? [] : [
    { ...shared, label: "Whole step", tone: 0, mean: drawn.series.wall_seconds },
    ...(tellsOfWaits(drawn) ? [{ ...shared, label: "Waiting for data", tone: 1, mean: drawn.series.data_seconds, filled: true }] : []),
    ...(drawn.gpu ? [{ ...shared, label: "GPU idle before the step", tone: 2, mean: drawn.gpu.series.idle_seconds, filled: true }] : []),
  ];
  return {
    id: "steps",
    title: "Step time",
    unit: "s",
    note: drawn ? stepNote(drawn) : "",
    traces,
    threshold: null,
    sparse: true,
    endsMs: drawn ? endsOf(drawn) : [],
    pointOf: drawn && drawn.series.steps_per_point > 1 ? `${drawn.series.steps_per_point} steps` : undefined,
    empty: "No steps yet. Those of a PyTorch training are seen below stepscope-agent run; any other calls stepscope.step() once per step.",
  };
}
