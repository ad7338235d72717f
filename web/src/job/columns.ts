import type uPlot from "uplot";
import type { Panel } from "./panels";

// Columns in place of a line: each value holds from its own time until it ends, and nothing slopes from one to the next.

/** Draws a series as columns. `ends` gives the present ends by begin; both grow while a job runs. */
export function columnPaths(ends: () => ReadonlyMap<number, number>): uPlot.Series.PathBuilder {
  return (u, series, first, last) => {
    const endsMs = ends();
    const [stroke, fill] = [new Path2D(), new Path2D()];
    const times = u.data[0];
    const values = u.data[series] ?? [];
    const floor = u.valToPos(0, "y", true);
    let penMs: number | null = null; // where the column before ended
    for (let i = first; i <= last; i += 1) {
      const fromMs = times[i];
      const value = values[i];
      if (fromMs === undefined || value === undefined || value === null) continue;
      const toMs = endsMs.get(fromMs) ?? fromMs;
      const [left, right] = [u.valToPos(fromMs, "x", true), u.valToPos(toMs, "x", true)];
      const top = u.valToPos(value, "y", true);
      if (penMs === fromMs) stroke.lineTo(left, top);
      else stroke.moveTo(left, top);
      stroke.lineTo(Math.max(right, left + 1), top);
      fill.rect(left, top, Math.max(right - left, 1), floor - top);
      penMs = toMs;
    }
    return { stroke, fill };
  };
}

/** The end of each point of a panel by its begin. */
export function endsByStart({ traces, endsMs }: Pick<Panel, "traces" | "endsMs">): ReadonlyMap<number, number> {
  return new Map((traces[0]?.timesMs ?? []).map((ms, i) => [ms, endsMs?.[i] ?? ms]));
}
