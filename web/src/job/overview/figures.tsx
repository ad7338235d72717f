import { useMemo } from "preact/hooks";
import { count, duration, percent } from "../../format";
import type { Job, Metrics, RankSteps, Steps } from "../../model";
import { hasGpus, meanOfAll, rowsOf } from "../panels";
import { meanOf } from "../summary";
import { countedOf, rankOf } from "../rules/order";
import type { Span } from "../view";

// The job in a row of numbers.

function Figure({ word, value, note }: { word: string; value: string; note?: string }) {
  return (
    <div class="figure-box">
      <dt>{word}</dt>
      <dd>
        {value}
        {note ? <span class="figure-note">{note}</span> : null}
      </dd>
    </div>
  );
}

function dataShare(rank: RankSteps | undefined): number | null {
  return rank?.phases.find(({ phase }) => phase === "data")?.share_percent ?? null;
}

/** The mean of a chart's metric over all GPUs or nodes in a span. */
export function meanInSpan(job: Job, metrics: Metrics, id: string, span: Span): number | null {
  const row = rowsOf(job, "overview").find((each) => each.id === id);
  const trace = row === undefined ? null : meanOfAll(metrics, row);
  return trace === null ? null : meanOf(trace, span);
}

export interface FiguresProps {
  readonly job: Job;
  readonly metrics: Metrics | null;
  readonly steps: Steps | null;
  readonly span: Span;
  readonly rank: number;
  readonly zoomed: boolean;
}

export function Figures({ job, metrics, steps, span, rank, zoomed }: FiguresProps) {
  const whole = zoomed ? "in all" : ""; // figures of steps do not follow the zoom
  const means = useMemo(() => ["gpu", "cpu", "memory"].map((id) => (metrics === null ? null : meanInSpan(job, metrics, id, span))), [job, metrics, span.fromMs, span.toMs]);
  const found = steps?.ranks.find((each) => each.rank === rank) ?? steps?.ranks[0];
  const wall = found?.wall_seconds ?? null;
  const rules = countedOf(job.profiler_rule_evaluation_statuses);
  const trouble = rules.filter((rule) => rankOf(rule) < 3).length;
  return (
    <dl class="card figures">
      {job.nodes.length === 0 || hasGpus(job) ? <Figure word="GPU" value={percent(means[0])} note={zoomed ? "mean in view" : "mean"} /> : null}
      <Figure word="CPU" value={percent(means[1])} note={zoomed ? "mean in view" : "mean"} />
      <Figure word="Memory" value={percent(means[2])} note={zoomed ? "mean in view" : "mean"} />
      <Figure word="Step p50" value={duration(wall?.p50)} note={whole} />
      <Figure word="Step p99" value={duration(wall?.p99)} note={whole} />
      <Figure word="Steps" value={count(found?.steps)} note={whole} />
      <Figure word="Waiting for data" value={percent(dataShare(found))} note={zoomed ? "of all steps" : "of step time"} />
      <Figure word="Issues" value={job.verdict === "unknown" && trouble === 0 ? "not judged" : `${count(trouble)} of ${count(rules.length)}`} note="rules" />
    </dl>
  );
}
