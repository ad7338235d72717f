import uPlot from "uplot";
import { axisInstant, axisNumber, axisValue, metric, type TimeZone } from "../format";
import { faint, type Palette, toneOf } from "../palette";
import { columnPaths } from "./columns";
import type { Panel, Threshold } from "./panels";
import { drawPin, drawStalls } from "./plot_marks";
import type { Trace } from "./traces";

// The uPlot options of a panel: everything that the canvas shows is decided here.

export interface DrawContext {
  readonly palette: Palette;
  readonly zone: TimeZone;
  readonly startMs: number;
}

export interface Actions {
  readonly zoom: (fromMs: number, toMs: number) => void;
  readonly reset: () => void;
  readonly moved: (index: number | null) => void;
  /** When the points of the panel end, by their begin. */
  readonly ends: () => ReadonlyMap<number, number>;
  readonly stalls: () => Panel["stalls"];
  /** The stretches in which nothing was measured. */
  readonly gaps: () => readonly (readonly [number, number])[];
  /** The pinned moment. */
  readonly pinned: () => number | null;
}

export const kHeight = 168;
const kNoStalls = { timesMs: [], rule: "", sentence: "" };
const kFont = "12px system-ui, sans-serif";
const kIncrsMs = [
  100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5,
  216e5, 432e5, 864e5, 1728e5, 6048e5,
];
const kByteIncrs = Array.from({ length: 6 }, (_, power) =>
  [1, 2, 5, 10, 20, 50, 100, 200, 500].map((step) => step * 1024 ** power)).flat();
const kLeastTop: Readonly<Record<string, number>> = { "bytes/s": 1024, s: 0.001, "": 1 };

type Drawn = Pick<Panel, "traces" | "stacks" | "sparse" | "endsMs">;

const drawn = ({ stacks, traces }: Drawn) => (stacks ? stacks.stacked(traces) : traces);

/** The columns of all traces on one x axis. undefined = the trace has no point at this time; null = a gap. */
export function columnsOf(panel: Drawn): uPlot.AlignedData {
  const traces = drawn(panel);
  const times = [...new Set(traces.flatMap((trace) => trace.timesMs))].sort((a, b) => a - b);
  const rows = new Map(times.map((ms, row) => [ms, row]));
  const place = (trace: Trace, values: readonly (number | null)[]) => {
    const column = new Array<number | null | undefined>(times.length).fill(undefined);
    trace.timesMs.forEach((ms, i) => (column[rows.get(ms) ?? 0] = values[i] ?? null));
    return column;
  };
  const columns = traces.flatMap((trace) => {
    const lines = [place(trace, trace.mean)];
    if (trace.low && trace.high) lines.push(place(trace, trace.low), place(trace, trace.high));
    return lines;
  });
  return [times, ...columns] as uPlot.AlignedData;
}

/** The rows of values that have a gap on both sides: no line shows them, so they are drawn as points. */
export function isolatedRows(values: readonly (number | null | undefined)[]): number[] {
  const rows = values.flatMap((value, row) => (value === undefined ? [] : [row]));
  const missing = (row: number | undefined) => row === undefined || values[row] === null;
  return rows.filter((row, i) => !missing(row) && missing(rows[i - 1]) && missing(rows[i + 1]));
}

const isolatedPoints = (u: uPlot, series: number) => isolatedRows([...(u.data[series] ?? [])]);

function seriesOf(panel: Drawn, palette: Palette, ends: Actions["ends"]): { series: uPlot.Series[]; bands: uPlot.Band[] } {
  const traces = drawn(panel);
  const columns = panel.endsMs ? columnPaths(ends) : null;
  const shape: Partial<uPlot.Series> = columns === null ? {} : { paths: columns };
  if (panel.stacks) return { series: [{}, ...panel.stacks.series(traces, palette, shape)], bands: [] };
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  for (const trace of traces) {
    const stroke = toneOf(trace.tone, palette);
    const fill = trace.filled ? { fill: faint(stroke, 0.22) } : {};
    const dash = trace.dashed ? { dash: [6, 4] } : {};
    const points = panel.sparse && columns === null ? { show: false, size: 5, fill: stroke, filter: isolatedPoints } : { show: false };
    series.push({ stroke, width: 1.5, points, ...fill, ...dash, ...shape });
    if (!trace.low || !trace.high) continue;
    const edge: uPlot.Series = { stroke: "transparent", width: 0, points: { show: false } };
    series.push(edge, edge);
    bands.push({ series: [series.length - 1, series.length - 2], fill: faint(stroke, 0.18) });
  }
  return { series, bands };
}

function drawThreshold(u: uPlot, { rule, value, beyond }: Threshold, unit: string, palette: Palette): void {
  const { ctx } = u;
  const { left, top, width, height } = u.bbox;
  const y = Math.round(u.valToPos(value, "y", true));
  if (y < top || y > top + height) return; // the values are far from the threshold
  const text = `${rule} ${metric(value, unit)}`;
  ctx.save();
  ctx.strokeStyle = palette.threshold;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(left, y);
  ctx.lineTo(left + width, y);
  ctx.stroke();
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "right";
  ctx.textBaseline = y - top > 16 * devicePixelRatio ? "bottom" : "top";
  const shift = (ctx.textBaseline === "bottom" ? -2 : 3) * devicePixelRatio;
  const right = left + width - 4 * devicePixelRatio;
  const wide = ctx.measureText(text).width;
  const high = 13 * devicePixelRatio;
  ctx.fillStyle = faint(palette.panel, 0.8);
  ctx.fillRect(right - wide - high / 4, y + shift - (shift < 0 ? high : 0), wide + high / 2, high);
  ctx.fillStyle = palette.threshold;
  ctx.fillText(text, right, y + shift);
  ctx.fillStyle = faint(palette.threshold, 0.06);
  if (beyond === "above") ctx.fillRect(left, top, width, y - top);
  else ctx.fillRect(left, y, width, top + height - y);
  ctx.restore();
}

/** Light hatching where nothing was measured. */
function drawGaps(u: uPlot, gaps: readonly (readonly [number, number])[], colour: string): void {
  if (gaps.length === 0) return;
  const { ctx } = u;
  const { left, top, width, height } = u.bbox;
  ctx.save();
  ctx.beginPath();
  for (const [fromMs, toMs] of gaps) {
    const from = Math.max(left, u.valToPos(fromMs, "x", true));
    const to = Math.min(left + width, u.valToPos(toMs, "x", true));
    if (to > from) ctx.rect(from, top, to - from, height);
  }
  ctx.clip();
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  for (let x = left - height; x < left + width; x += 7 * devicePixelRatio) {
    ctx.moveTo(x, top + height);
    ctx.lineTo(x + height, top);
  }
  ctx.stroke();
  ctx.restore();
}

const localOffsetMs = (ms: number) => new Date(ms).getTimezoneOffset() * 60_000;

/** Ticks at round times, counted from the job's start or from midnight; of local time by the offset of each, which changes in spring. */
export function timeSplits(min: number, max: number, incr: number, { zone, startMs }: Pick<DrawContext, "zone" | "startMs">): number[] {
  const base = zone === "relative" ? startMs : zone === "local" ? localOffsetMs(min) : 0;
  const splits: number[] = [];
  for (let at = base + Math.ceil((min - base) / incr) * incr; at <= max + 36e5; at += incr) {
    // An hour that is left out or comes twice moves what follows it.
    const ms = zone === "local" ? at - base + localOffsetMs(at - base + localOffsetMs(at)) : at;
    if (ms >= min && ms <= max && ms > (splits[splits.length - 1] ?? -Infinity)) splits.push(ms);
  }
  return splits;
}

function axesOf(panel: Panel, context: DrawContext): uPlot.Axis[] {
  const { palette } = context;
  const shared = {
    stroke: palette.muted,
    font: kFont,
    grid: { stroke: palette.line, width: 1 },
    ticks: { show: false },
  };
  return [
    {
      ...shared,
      grid: { show: false },
      ticks: { stroke: palette.line, width: 1, size: 4 },
      size: 28,
      space: 76,
      incrs: kIncrsMs,
      splits: (_u, _axis, min, max, incr) => timeSplits(min, max, incr, context),
      values: (_u, splits, _axis, _space, incr) =>
        splits.map((ms) => axisInstant(ms, context.startMs, context.zone, incr < 1000 ? 1 : 0)),
    },
    {
      ...shared,
      size: 74,
      space: 34,
      ...(panel.unit === "%" ? { splits: () => [0, 25, 50, 75, 100] } : {}),
      ...(panel.unit === "bytes/s" ? { incrs: kByteIncrs } : {}),
      values: (_u, splits, _axis, _space, incr) =>
        splits.map((value) => (panel.free ? axisNumber(value, incr) : axisValue(value, panel.unit))),
    },
  ];
}

function topOf(panel: Panel, max: number | null): number {
  if (panel.unit === "%") return 100;
  return Math.max(kLeastTop[panel.unit] ?? 0, (max ?? 0) * 1.08);
}

/** The range of an axis that shows all values, with a little room above and below. */
export function freeRange(min: number | null, max: number | null): [number, number] {
  const [low, high] = [min ?? 0, max ?? 1];
  const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

export function optionsOf(panel: Panel, context: DrawContext, width: number, sync: string, act: Actions): uPlot.Options {
  const { series, bands } = seriesOf(panel, context.palette, act.ends);
  return {
    width,
    height: kHeight,
    padding: [8, 32, 0, 0], // half of the last time, 168:00:00
    legend: { show: false },
    series,
    bands,
    axes: axesOf(panel, context),
    scales: { x: { time: false }, y: { range: (_u, min, max) => (panel.free ? freeRange(min, max) : [0, topOf(panel, max)]) } },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false },
      points: { show: false },
      // Only the pointer's position is shared: if all charts received a drag, each would zoom once.
      sync: { key: sync, setSeries: false, scales: ["x", null], filters: { pub: (type) => /move|leave/.test(type) } },
      bind: { dblclick: () => () => (act.reset(), null) },
    },
    hooks: {
      drawClear: [(u) => drawGaps(u, act.gaps(), context.palette.line)],
      draw: [
        (u) => panel.threshold && drawThreshold(u, panel.threshold, panel.unit, context.palette),
        (u) => drawStalls(u, act.stalls() ?? kNoStalls, context.palette.threshold),
        (u) => drawPin(u, act.pinned(), context.palette.text),
      ],
      setCursor: [(u) => act.moved(u.cursor.idx ?? null)],
      setSelect: [
        (u) => {
          const { left, width: wide } = u.select;
          if (wide < 4) return;
          act.zoom(u.posToVal(left, "x"), u.posToVal(left + wide, "x"));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}
