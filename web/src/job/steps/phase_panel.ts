import type { Job, RankSteps, Values } from "../../model";
import { kPhases } from "../../palette";
import type { Panel } from "../panels";
import type { Trace } from "../traces";
import { kLayers } from "./layers";
import { endsOf } from "./step_panels";

// How the phases share the time of a rank's steps.

/** Whether the rank's GPU works while its host goes on. */
export const isAsync = (job: Job, rank: number) => job.ranks.some((each) => each.rank === rank && each.facts?.["gpu_async"] === "True");

const kPhaseWords: Readonly<Record<string, string>> = { sync: "Waits for the GPU", device_to_host: "Copies from the GPU" };
export const phaseWord = (phase: string) => kPhaseWords[phase] ?? phase.charAt(0).toUpperCase() + phase.slice(1);

/** The share of a phase at each point, in percent of the time of its steps. */
function sharesOf(seconds: Values, wall: Values): Values {
  return wall.map((all, i) => (all ? (100 * (seconds[i] ?? 0)) / all : null));
}

/** The phases of a rank along the job, and what none of them covers; `launches`: a GPU does the work later. */
export function phasePanel(found: RankSteps, launches = false): Panel {
  const { start_us, wall_seconds: wall, phases_seconds } = found.series;
  const named = Object.keys(kPhases).flatMap((phase) => (phases_seconds[phase] ? [[phase, phases_seconds[phase]] as const] : []));
  const unaccounted = wall.map((all, i) => named.reduce((left, [, seconds]) => left - (seconds[i] ?? 0), all ?? 0));
  const shared = { timesMs: start_us.map((us) => us / 1000), low: null, high: null, weight: wall };
  return {
    id: "phases",
    title: "Phases of a step",
    unit: "%",
    note: `share of step time, rank ${found.rank}${launches ? "; work on the GPU counts where the host launches it or waits for it" : ""}`,
    traces: named.length === 0 ? [] : [...named, ["unnamed", unaccounted.map((seconds) => Math.max(0, seconds))] as const].map(([phase, seconds]): Trace => ({
      ...shared, ...(kPhases[phase] ?? { tone: -1 }), label: phaseWord(phase), mean: sharesOf(seconds, wall),
    })),
    threshold: null,
    empty: "No phase was named in these steps. Below stepscope-agent run, PyTorch names its own.",
    sparse: true,
    endsMs: endsOf(found),
    stacks: kLayers,
  };
}
