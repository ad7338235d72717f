import { ask } from "../../api";
import { instant, plural, type TimeZone } from "../../format";
import type { Finding, Metrics, RankSteps } from "../../model";
import type { components } from "../../openapi";
import type { Span } from "../view";
import { kEpoch, kLists, listAddress } from "./calls";

// The marks of the strip: where rules fired, what was recorded, where the training began anew, its epochs and checkpoints.

type Schemas = components["schemas"];
type Window = Schemas["WindowPage"]["items"][number];
type JobEvent = Schemas["JobEventPage"]["items"][number];

export interface Lists {
  readonly findings: readonly Finding[];
  readonly windows: readonly Window[];
  readonly events: readonly JobEvent[];
}

/** The three lists. One that cannot be read has no marks; the strip is there all the same. */
export async function readLists(job: string, stop: AbortSignal): Promise<Lists> {
  const read = async (at: 0 | 1 | 2): Promise<readonly never[]> => {
    try {
      return (await ask<{ readonly items: readonly never[] }>(listAddress(job, kLists[at]), "items", { stop })).items;
    } catch (fault) {
      if (stop.aborted) throw fault;
      return [];
    }
  };
  const [findings, windows, events] = await Promise.all([read(0), read(1), read(2)]);
  return { findings, windows, events };
}

export interface Mark extends Span {
  readonly words: string;
}

/** Times of findings as marks, those that would touch as one. `leastMs` is the room that a mark takes. */
export function findingMarks(findings: readonly Finding[], leastMs: number, start: number, zone: TimeZone): readonly Mark[] {
  const groups: Finding[][] = [];
  for (const each of [...findings].sort((a, b) => a.from_us - b.from_us)) {
    const last = groups[groups.length - 1];
    if (last?.[0] && each.from_us / 1000 - last[0].from_us / 1000 < leastMs) last.push(each);
    else groups.push([each]);
  }
  const kMostWords = 4;
  return groups.map((group) => {
    const words = group.slice(0, kMostWords).map(({ rule_configuration_name: rule, from_us, to_us, sentence }) =>
      `${rule}, ${instant(from_us / 1000, start, zone)} to ${instant(to_us / 1000, start, zone)}: ${sentence}`);
    const more = group.length - words.length;
    return {
      fromMs: (group[0]?.from_us ?? 0) / 1000,
      toMs: Math.max(...group.map(({ to_us }) => to_us / 1000)),
      words: [...words, ...(more > 0 ? [`and ${plural(more, "more finding")}`] : [])].join("\n"),
    };
  });
}

function windowWords({ id, start_step, num_steps }: Window): string {
  const steps = start_step === null || num_steps === null ? "" : `, steps ${start_step} to ${start_step + num_steps - 1}`;
  return `Window ${id}${steps}`;
}

/** The recorded windows: from the first span of their traces to the last, else when agents said that they are over. */
export function windowMarks(windows: readonly Window[]): readonly Mark[] {
  return windows.flatMap((window) => {
    const timed = window.traces.filter(({ on_our_clock }) => on_our_clock).flatMap(({ from_us, to_us }) => [from_us, to_us]);
    const times = timed.length > 0 ? timed : window.answers.filter(({ recorded }) => recorded).map(({ at_us }) => at_us);
    return times.length === 0 ? [] : [{ fromMs: Math.min(...times) / 1000, toMs: Math.max(...times) / 1000, words: windowWords(window) }];
  });
}

const kOneStartMs = 60_000; // ranks and agents that start within this time are one start

/** The times at which an agent was started once more, or a rank came after one of its node had ended. */
export function restarts(events: readonly JobEvent[]): readonly number[] {
  const known = new Map<string, string>(); // the last event of each node, of agents and of ranks
  const found: number[] = [];
  for (const { kind, node, at_us } of [...events].sort((a, b) => a.at_us - b.at_us)) {
    if (!["agent_started", "rank_connected", "rank_ended"].includes(kind)) continue;
    const key = `${kind.slice(0, 5)} ${node}`;
    const before = known.get(key);
    known.set(key, kind);
    const again = kind === "agent_started" ? before !== undefined : kind === "rank_connected" && before === "rank_ended";
    if (again && at_us / 1000 - (found[found.length - 1] ?? -Infinity) > kOneStartMs) found.push(at_us / 1000);
  }
  return found;
}

const kMostTicks = 100; // more of them would be a ground, not marks

/** The times at which the epoch grew. */
export function epochs({ series }: Metrics): readonly number[] {
  const found = series.find(({ metric }) => metric === kEpoch);
  let last: number | null = null;
  const times: number[] = [];
  found?.times_us.forEach((us, i) => {
    const epoch = Math.floor(found.max[i] ?? NaN);
    if (Number.isNaN(epoch)) return;
    if (last !== null && epoch > last) times.push(us / 1000);
    last = Math.max(last ?? epoch, epoch);
  });
  return times.length > kMostTicks ? [] : times;
}

/** The points of the rank's curve in which it wrote a checkpoint; none where most of them did. */
export function checkpoints(found: RankSteps | undefined): readonly number[] {
  const seconds = found?.series.phases_seconds["checkpoint"] ?? [];
  const times = (found?.series.start_us ?? []).flatMap((us, i) => ((seconds[i] ?? 0) > 0 ? [us / 1000] : []));
  return times.length > Math.min(kMostTicks, (found?.series.start_us.length ?? 0) / 2) ? [] : times;
}
