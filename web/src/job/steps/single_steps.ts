import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, ask, jobPath } from "../../api";
import type { RankSteps, StepRows } from "../../model";
import type { View } from "../frame";

// Single steps in place of a curve of means, where so few are on screen that each can be drawn.

const kMost = 2000;

/** The series of these steps; the other figures of the rank stay those of the whole job. */
export function withSingleSteps(found: RankSteps, { items }: StepRows): RankSteps {
  const phases = [...new Set(items.flatMap(({ phases_seconds: each }) => Object.keys(each)))];
  const seconds = (phase: string) => items.map(({ phases_seconds: each }) => each[phase] ?? 0);
  return {
    ...found,
    series: {
      steps_per_point: 1,
      step: items.map(({ step }) => step),
      start_us: items.map(({ start_us }) => start_us),
      wall_seconds: items.map(({ wall_seconds }) => wall_seconds),
      data_seconds: seconds("data"),
      phases_seconds: Object.fromEntries(phases.map((phase) => [phase, seconds(phase)])),
    },
    gpu: items.some(({ gpu }) => gpu !== null) ? { series: { idle_seconds: items.map(({ gpu }) => gpu?.idle_seconds ?? null) } } : null,
  };
}

/** The rank's steps of the span on screen, one by one; the curve of means while they are too many or not there. */
export function useSingleSteps({ job, found, zoomed, shown }: View): RankSteps | undefined {
  const rows = useSignal<{ readonly key: string; readonly page: StepRows } | null>(null);
  const margin = (shown.toMs - shown.fromMs) / 20;
  const [fromUs, toUs] = [Math.max(0, Math.round((shown.fromMs - margin) * 1000)), Math.round((shown.toMs + margin) * 1000)];
  const wanted = zoomed && found !== undefined && found.series.steps_per_point > 1;
  const key = wanted ? `${found.rank} ${fromUs} ${toUs}` : "";
  useEffect(() => {
    if (!wanted) return undefined;
    const stop = new AbortController();
    // Without them the curve of means stays.
    const url = address(`${jobPath(job.name)}/steps`, { rank: found.rank, from_us: fromUs, to_us: toUs, limit: kMost, format: "rows" });
    ask<StepRows>(url, "items", { stop: stop.signal }).then((page) => (rows.value = { key, page }), () => {});
    return () => stop.abort();
  }, [key]);
  const read = rows.value;
  if (!wanted || read?.key !== key || read.page.next !== null || read.page.items.length === 0) return found;
  return withSingleSteps(found, read.page);
}
