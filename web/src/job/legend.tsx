import { useEffect, useMemo } from "preact/hooks";
import { metric } from "../format";
import { isMapped } from "./devices";
import { tabLink } from "./head";
import { loadWorst, worst } from "./lazy_parts";
import { chooseLine } from "./lines";
import type { Panel } from "./panels";
import { endsOfRange, legendOrder, meanOf } from "./summary";
import type { Trace } from "./traces";
import type { Span } from "./view";

// What the lines of a chart are: their values at the chosen moment, else their means, and the way to each device behind them.

export function valueAt(trace: Trace, ms: number | undefined, unit: string): string {
  const row = ms === undefined ? -1 : trace.timesMs.indexOf(ms);
  if (row < 0) return "";
  const value = trace.mean[row] ?? null;
  if (value === null) return "no sample";
  const band = trace.low && trace.high ? ` (${metric(trace.low[row], unit)} to ${metric(trace.high[row], unit)})` : "";
  return metric(value, unit) + band;
}

interface LegendProps {
  readonly panel: Panel;
  /** The lines that are drawn; a click on the name of a line changes them. */
  readonly drawn: Panel;
  readonly span: Span;
  readonly ms: number | undefined;
  readonly job: string;
  readonly live: boolean;
}

export function Legend({ panel, drawn, span, ms, job, live }: LegendProps) {
  const { devices, unit, stacks } = panel;
  const traces = useMemo(() => legendOrder(panel, span), [panel, span.fromMs, span.toMs]);
  const range = useMemo(() => endsOfRange(panel, span), [panel, span.fromMs, span.toMs]);
  const mapped = devices && isMapped(devices.metric);
  const folded = mapped && devices.series.length === 0; // so the worst is not known from the chart
  useEffect(() => void (folded && loadWorst()), [folded]);
  const { Worst } = worst.value ?? {};
  return (
    <ul class="legend">
      {traces.map((trace) => {
        const name = (
          <>
            <span class={`swatch swatch-${trace.tone}${stacks ? " swatch-area" : ""}${trace.striped ? " swatch-striped" : ""}`} aria-hidden="true" />
            <span class="legend-label">{trace.label}</span>
          </>
        );
        return (
          <li key={trace.label}>
            {traces.length < 2 ? name : (
              <button type="button" class="legend-line" aria-pressed={drawn.traces.includes(trace)} onClick={({ ctrlKey, metaKey }) => chooseLine(panel, trace.label, ctrlKey || metaKey)}>
                {name}
              </button>
            )}{" "}
            <span class="legend-value">
              {(ms === undefined ? null : valueAt(trace, ms, unit)) || `${stacks ? "" : "mean "}${metric(meanOf(trace, span), unit)}`}
            </span>
          </li>
        );
      })}
      {range === "" ? null : <li class="legend-value">{range}</li>}
      {folded && Worst ? <Worst job={job} devices={devices} span={span} live={live} /> : null}
      {mapped ? <li><a href={tabLink(job, "heatmap", devices.metric)}>{`All ${devices.many} ${devices.what}`}</a></li> : null}
    </ul>
  );
}
