import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { instant, metric as inUnit } from "../../format";
import type { Heatmap } from "../../model";
import { kPalettes, type Palette } from "../../palette";
import { valueOf, withKeys } from "../../query";
import { search, setKeys } from "../../router";
import { theme } from "../../settings";
import { tabPath } from "../../tabs";
import { cursorMs, pinnedMs } from "../cursor";
import type { View } from "../frame";
import { tables } from "../lazy_parts";
import { type HeatRow, kNoValue, valueOfByte } from "./cells";
import { viridis } from "./viridis";

// The heat map on a canvas: a row for each device, a column for each bin of time. Cells are walked with the arrow keys.

const kLeastRow = 3; // px
const kMostRow = 14;
const kWanted = 460; // px of all rows, where their number allows it
const kNames = 132; // px left of the cells
const kLeastNamed = 10; // px of a row from which each row has its name

interface CanvasProps {
  readonly view: View;
  readonly map: Heatmap;
  readonly rows: readonly HeatRow[];
  /** The values of the darkest and the lightest colour. */
  readonly scale: readonly [number, number];
}

const rowHeight = (rows: number) => Math.max(kLeastRow, Math.min(kMostRow, Math.floor(kWanted / Math.max(1, rows))));

function hatched(ctx: CanvasRenderingContext2D, palette: Palette): CanvasPattern | string {
  const tile = Object.assign(document.createElement("canvas"), { width: 6, height: 6 });
  const pen = tile.getContext("2d");
  if (pen === null) return palette.line;
  pen.fillStyle = palette.panel;
  pen.fillRect(0, 0, 6, 6);
  pen.strokeStyle = palette.muted;
  pen.beginPath();
  pen.moveTo(0, 6);
  pen.lineTo(6, 0);
  pen.stroke();
  return ctx.createPattern(tile, "repeat") ?? palette.line;
}

/** The cells as an image of one pixel each; cells without a value are left transparent, so that the hatching shows. */
function imageOf({ map, rows, scale: [low, high] }: CanvasProps): HTMLCanvasElement {
  const columns = map.times_us.length;
  const image = Object.assign(document.createElement("canvas"), { width: Math.max(1, columns), height: Math.max(1, rows.length) });
  const ctx = image.getContext("2d");
  if (ctx === null || columns === 0) return image;
  const data = ctx.createImageData(columns, rows.length);
  rows.forEach(({ cells }, row) => {
    cells.forEach((byte, column) => {
      if (byte === kNoValue) return;
      const rgb = viridis(((valueOfByte(byte, map) ?? 0) - low) / (high - low || 1));
      data.data.set([...rgb, 255], 4 * (row * columns + column));
    });
  });
  ctx.putImageData(data, 0, 0);
  return image;
}

function drawNames(ctx: CanvasRenderingContext2D, rows: readonly HeatRow[], high: number, palette: Palette): void {
  ctx.fillStyle = palette.muted;
  ctx.font = "11px system-ui, sans-serif";
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  let free = 0; // the pixel from which the next name does not touch the last one
  rows.forEach(({ name, node }, row) => {
    const first = rows[row - 1]?.node !== node;
    const y = (row + 0.5) * high;
    if ((high < kLeastNamed && !first) || y < free) return;
    const text = high < kLeastNamed ? node : name;
    ctx.fillText(text.length > 22 ? `${text.slice(0, 21)}…` : text, kNames - 6, Math.max(6, y), kNames - 8);
    free = y + 11;
  });
}

function draw(canvas: HTMLCanvasElement, props: CanvasProps, width: number, at: readonly [number, number] | null, pinned: number): void {
  const { rows, map } = props;
  const high = rowHeight(rows.length);
  const ratio = window.devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(rows.length * high * ratio);
  const ctx = canvas.getContext("2d");
  if (ctx === null) return;
  const palette = kPalettes[theme.peek()];
  ctx.scale(ratio, ratio);
  ctx.fillStyle = hatched(ctx, palette);
  ctx.fillRect(kNames, 0, width - kNames, rows.length * high);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(imageOf(props), kNames, 0, width - kNames, rows.length * high);
  drawNames(ctx, rows, high, palette);
  const wide = (width - kNames) / Math.max(1, map.times_us.length);
  if (pinned >= 0) {
    ctx.fillStyle = palette.panel;
    ctx.fillRect(kNames + (pinned + 0.5) * wide - 1.5, 0, 3, rows.length * high);
    ctx.fillStyle = palette.text;
    ctx.fillRect(kNames + (pinned + 0.5) * wide - 0.5, 0, 1, rows.length * high);
  }
  if (at !== null) {
    ctx.strokeStyle = palette.text;
    ctx.lineWidth = 2;
    ctx.strokeRect(kNames + at[1] * wide - 1, at[0] * high - 1, Math.max(4, wide) + 2, high + 2);
  }
  performance.mark("heat");
}

/** The link to the charts of a row's device; a core has none of its own, so it leads to its node. */
const systemLink = (job: string, metric: string, { name, node }: HeatRow) =>
  tabPath(job, "system") + withKeys(search.value, { dev: metric === "cpu_util_percent" ? node : name, metric: null, node: null, order: null });

export function HeatCanvas(props: CanvasProps) {
  const { view, map, rows } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const at = useSignal<readonly [number, number] | null>(null);
  const drag = useRef<number | null>(null);
  const columns = map.times_us.length;
  // The cell of the link counts while nothing is pointed at.
  const pinnedAt = pinnedMs(view.shared.startMs);
  const pinned = pinnedAt === null ? -1 : map.times_us.findIndex((us) => pinnedAt >= us / 1000 && pinnedAt < (us + map.bin_us) / 1000);
  const chosen = rows.findIndex(({ name }) => name === valueOf(search.value, "dev"));
  const cell = at.value ?? (pinned >= 0 && chosen >= 0 ? ([chosen, pinned] as const) : null);

  useEffect(() => {
    const place = box.current;
    if (place === null || canvas.current === null) return undefined;
    const redraw = () => canvas.current && draw(canvas.current, props, place.clientWidth, cell, pinned);
    redraw();
    const watch = new ResizeObserver(redraw);
    watch.observe(place);
    return () => watch.disconnect();
  }, [map, rows, theme.value, cell?.[0], cell?.[1], pinned]);

  const cellAt = (event: PointerEvent): readonly [number, number] | null => {
    const place = canvas.current?.getBoundingClientRect();
    if (!place || rows.length === 0 || columns === 0) return null;
    const column = Math.floor(((event.clientX - place.left - kNames) / (place.width - kNames)) * columns);
    const row = Math.floor(((event.clientY - place.top) / place.height) * rows.length);
    return [Math.max(0, Math.min(rows.length - 1, row)), Math.max(0, Math.min(columns - 1, column))];
  };
  // The first bin begins before the span; nothing of it is shown.
  const timeOf = (column: number) => Math.max((map.times_us[column] ?? 0) / 1000, view.shown.fromMs);
  const { listenToWheel } = tables.value ?? {};
  const timeAt = useRef<(clientX: number) => number | null>(() => null);
  timeAt.current = (x) => {
    const place = canvas.current?.getBoundingClientRect();
    if (!place || columns === 0) return null;
    return timeOf(0) + Math.max(0, (x - place.left - kNames) / (place.width - kNames)) * columns * (map.bin_us / 1000);
  };
  const turn = useRef(view.shared.turn);
  turn.current = view.shared.turn;
  useEffect(() => (box.current && listenToWheel?.(box.current, (x) => timeAt.current(x), (by, ms) => turn.current(by, ms))) || undefined, [listenToWheel]);
  const point = (to: readonly [number, number] | null) => {
    at.value = to;
    cursorMs.value = to === null ? null : timeOf(to[1]) + map.bin_us / 2000;
  };
  /** Pins a cell in the link, and takes it out where it is the pinned one. */
  const choose = (to: readonly [number, number] | null) => {
    if (to === null) return;
    const same = pinned === to[1] && chosen === to[0];
    setKeys({ at: same ? null : `${Math.round(timeOf(to[1]) + map.bin_us / 2000 - view.shared.startMs)}`, dev: same ? null : (rows[to[0]]?.name ?? null) }, true);
  };
  const onDown = (event: PointerEvent) => {
    drag.current = cellAt(event)?.[1] ?? null;
    canvas.current?.setPointerCapture(event.pointerId); // a drag may end beside the map
  };
  const onUp = (event: PointerEvent) => {
    const [from, to] = [drag.current, cellAt(event)?.[1] ?? null];
    drag.current = null;
    if (from === null || to === null) return;
    if (Math.abs(to - from) < 2) return choose(cellAt(event));
    view.shared.zoom({ fromMs: timeOf(Math.min(from, to)), toMs: timeOf(Math.max(from, to)) + map.bin_us / 1000 });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const far = event.shiftKey ? 10 : 1;
    const moves: Readonly<Record<string, readonly [number, number]>> = {
      ArrowUp: [-far, 0], ArrowDown: [far, 0], ArrowLeft: [0, -far], ArrowRight: [0, far], Home: [0, -1e9], End: [0, 1e9],
    };
    const move = moves[event.key];
    if (event.key === "Escape") point(null);
    else if (event.key === "Enter") choose(cell);
    else if (move) {
      const [row, column] = cell ?? [0, 0];
      point([Math.max(0, Math.min(rows.length - 1, row + move[0])), Math.max(0, Math.min(columns - 1, column + move[1]))]);
    } else return;
    event.preventDefault();
  };
  const shown = cell === null ? undefined : rows[cell[0]];
  const value = cell === null ? null : valueOfByte(shown?.cells[cell[1]], map);
  const words = cell === null || shown === undefined
    ? "no cell chosen; the arrow keys walk from cell to cell"
    : `${shown.name}, ${instant(timeOf(cell[1]), view.shared.startMs, view.zone)}: ${value === null ? "nothing measured" : inUnit(value, map.unit)}`;
  return (
    <>
      <p class="heat-cell">{cell === null ? "Point at a cell, or walk with the arrow keys; click to keep it in the link, drag to zoom." : words}{at.value === null && shown ? <> <a href={systemLink(view.job.name, map.metric, shown)}>Show {shown.name} in System</a></> : null}</p>
      <div ref={box} class="heat-box" tabIndex={0} role="slider" aria-label={`Heat map of ${rows.length} rows`} aria-valuemin={0} aria-valuemax={rows.length * columns}
        aria-valuenow={cell === null ? 0 : cell[0] * columns + cell[1]} aria-valuetext={words} onKeyDown={onKeyDown}>
        <canvas ref={canvas} class="heat-canvas" onPointerMove={(event) => point(cellAt(event))} onPointerLeave={() => point(null)}
          onPointerDown={onDown} onPointerUp={onUp} onPointerCancel={() => (drag.current = null)} />
      </div>
      <p class="heat-axis" aria-hidden="true">
        {[0, 0.25, 0.5, 0.75, 1].map((part) => (
          <span key={part}>{columns === 0 ? "" : instant(timeOf(Math.round(part * (columns - 1))), view.shared.startMs, view.zone)}</span>
        ))}
      </p>
    </>
  );
}
