import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, ask, jobPath } from "../api";
import { metric as inUnit } from "../format";
import type { Heatmap } from "../model";
import { poll } from "../poll";
import { search } from "../router";
import type { Devices } from "./devices";
import { columnWeights, type HeatRow, kMostRows, rowsOf } from "./heat/cells";
import { type Span, zoomOf } from "./view";

// The worst of many devices, where the service folded their series: a coarse heat map tells it by name.

const kPeriodMs = 60_000;
const kColumns = 60;

/** The row with the worst mean; null where nothing was measured. */
export function worstOf(map: Heatmap, worst: Devices["worst"], span: Span): HeatRow | null {
  const known = rowsOf(map, "mean", columnWeights(map, span)).filter(({ mean }) => mean !== null);
  return (worst === "lowest" ? known[0] : known[known.length - 1]) ?? null;
}

interface WorstProps {
  readonly job: string;
  readonly devices: Devices;
  readonly span: Span;
  readonly live: boolean;
}

export function Worst({ job, devices: { metric, many, worst }, span, live }: WorstProps) {
  const words = useSignal("");
  const zoomed = zoomOf(search.value) !== null;
  useEffect(() => {
    words.value = "";
    if (many > kMostRows) return undefined; // the service refuses so many
    const part = zoomed ? { from_us: Math.round(span.fromMs * 1000), to_us: Math.round(span.toMs * 1000) } : {};
    const opened = poll(async (stop) => {
      const map = await ask<Heatmap>(address(`${jobPath(job)}/heatmap`, { metric, columns: kColumns, rows: kMostRows, ...part }), "matrix", { stop });
      const found = worstOf(map, worst, span);
      words.value = found === null ? "" : `${worst} mean ${found.name}: ${inUnit(found.mean, map.unit)}`;
    }, () => (live ? kPeriodMs : null));
    return () => opened.stop();
  }, [job, metric, many, live, zoomed && span.fromMs, zoomed && span.toMs]);
  return words.value === "" ? null : <li class="legend-value">{words.value}</li>;
}
