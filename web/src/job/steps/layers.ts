import type uPlot from "uplot";
import { metric } from "../../format";
import { type Palette, toneOf } from "../../palette";
import type { Layers, Panel } from "../panels";
import { meanOf } from "../summary";
import type { Trace } from "../traces";
import type { Span } from "../view";

// Traces stacked on top of each other, as a chart draws them and as its sentence tells of them.

/** The traces stacked on top of each other, the highest first, because later areas are drawn over earlier ones. */
function stacked(traces: readonly Trace[]): readonly Trace[] {
  const tops = new Array<number>(traces[0]?.timesMs.length ?? 0).fill(0);
  return traces.map((trace) => ({
    ...trace,
    mean: trace.mean.map((value, row) => (tops[row] = (tops[row] ?? 0) + (value ?? 0))),
  })).reverse();
}

/** A fill of stripes of a colour on the panel's background. */
function stripes(colour: string, palette: Palette): CanvasPattern | string {
  const size = Math.round(6 * devicePixelRatio);
  const tile = Object.assign(document.createElement("canvas"), { width: size, height: size });
  const ctx = tile.getContext("2d");
  if (ctx === null) return colour;
  ctx.fillStyle = palette.panel;
  ctx.fillRect(0, 0, size, size);
  ctx.strokeStyle = colour;
  ctx.lineWidth = size / 2.4;
  ctx.beginPath();
  for (const left of [-size, 0, size]) {
    ctx.moveTo(left - 1, size + 1);
    ctx.lineTo(left + size + 1, -1);
  }
  ctx.stroke();
  return ctx.createPattern(tile, "repeat") ?? colour;
}

/** Layers without a line of their own: an edge of the ground keeps them apart. */
function seriesOf(traces: readonly Trace[], palette: Palette, shape: Partial<uPlot.Series>): uPlot.Series[] {
  return traces.map(({ tone, striped }) => {
    const colour = toneOf(tone, palette);
    const fill = striped ? stripes(colour, palette) : colour;
    return { stroke: palette.panel, width: 0.5, points: { show: false }, fill: () => fill, ...shape };
  });
}

/** A sentence about the three largest layers of a stacked chart; the legend has them all. */
function sentenceOf({ traces, unit }: Panel, span: Span): string {
  const means = traces.map((trace) => [trace.label, meanOf(trace, span)] as const).filter(([, mean]) => mean !== null);
  if (means.length === 0) return "No steps here.";
  const words = means.sort(([, a], [, b]) => (b ?? 0) - (a ?? 0)).slice(0, 3).map(([label, mean]) => `${label} ${metric(mean, unit)}`);
  return `Most of the time: ${words.join(", ")}.`;
}

export const kLayers: Layers = { stacked, series: seriesOf, sentence: sentenceOf };
