import type uPlot from "uplot";
import type { Panel } from "./panels";

// Moments that are marked on a chart.

/** A small triangle at the top for each stall. */
export function drawStalls(u: uPlot, stalls: NonNullable<Panel["stalls"]>, colour: string): void {
  const { ctx } = u;
  const { left, top, width } = u.bbox;
  const size = 4 * devicePixelRatio;
  ctx.save();
  ctx.fillStyle = colour;
  for (const ms of stalls.timesMs) {
    const x = u.valToPos(ms, "x", true);
    if (x < left || x > left + width) continue;
    ctx.beginPath();
    ctx.moveTo(x - size, top);
    ctx.lineTo(x + size, top);
    ctx.lineTo(x, top + 1.6 * size);
    ctx.fill();
  }
  ctx.restore();
}

/** A line at the pinned moment, if it is in sight. */
export function drawPin(u: uPlot, ms: number | null, colour: string): void {
  const { ctx } = u;
  const { left, top, width, height } = u.bbox;
  const x = Math.round(u.valToPos(ms ?? NaN, "x", true));
  if (!(x >= left && x <= left + width)) return;
  ctx.fillStyle = colour;
  ctx.fillRect(x, top, devicePixelRatio, height);
}
