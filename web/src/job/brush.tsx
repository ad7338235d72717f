import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { readMetrics } from "../api";
import { instant, type TimeZone } from "../format";
import type { Job, Metrics } from "../model";
import { cursorMs, pinnedMs } from "./cursor";
import { isFolded, kCpuRow, kGpuRow, meanOfAll } from "./panels";
import { lastEndMs } from "./summary";
import type { Trace } from "./traces";
import { goesOn, type Span, startMs, zoomTo } from "./view";

// The whole job as a strip: how busy it was, which part of it is on screen, and the way to another part.

const kHigh = 36;
const kPoints = 120;
const kGrip = 8; // px around an edge that take hold of it

/** The line of the whole job's use, kept while parts of it are on screen. */
let remembered: { readonly job: string; readonly trace: Trace } | null = null;

/** The use of all GPUs together; of all nodes where no GPU was measured. */
export const useOf = (metrics: Metrics): Trace | null => meanOfAll(metrics, kGpuRow) ?? meanOfAll(metrics, kCpuRow);

/** The trace of the whole job: the charts' own where they show all of it, else asked for once. */
function useTrace(job: Job, metrics: Metrics | null, zoomed: boolean): Trace | null {
  const asked = useSignal(0);
  const own = useMemo(() => (metrics === null || zoomed ? null : useOf(metrics)), [job, metrics, zoomed]);
  if (own !== null) remembered = { job: job.name, trace: own };
  const missing = remembered?.job !== job.name && (zoomed || metrics === null);
  useEffect(() => {
    if (!missing) return undefined;
    const stop = new AbortController();
    const metric = job.nodes.some(({ gpus }) => (gpus?.length ?? 0) > 0) ? "gpu_util_percent" : "node_cpu_percent";
    readMetrics(job.name, { metric, points: kPoints, fold: isFolded(job) ? "metric" : null }, stop.signal).then((found) => {
      const trace = useOf(found);
      if (trace !== null) remembered = { job: job.name, trace };
      asked.value += 1;
    }, () => {});
    return () => stop.abort();
  }, [missing, job.name]);
  void asked.value; // an answer is drawn when it comes
  return remembered?.job === job.name ? remembered.trace : null;
}

/** The silhouette in a box of 1000 by 100; a gap is a gap, also at the end. */
export function silhouette({ timesMs, mean }: Pick<Trace, "timesMs" | "mean">, { fromMs, toMs }: Span): string {
  const x = (ms: number) => Math.max(0, Math.min(1000, (1000 * (ms - fromMs)) / (toMs - fromMs)));
  const lastMs = timesMs[timesMs.length - 1] ?? toMs;
  const endMs = lastEndMs(timesMs, lastMs, toMs);
  return timesMs.map((ms, i) => {
    const value = mean[i] ?? null;
    if (value === null) return "";
    const y = (100 - Math.min(100, Math.max(0, value))).toFixed(1);
    return `M${x(ms).toFixed(1)} 100V${y}H${x(timesMs[i + 1] ?? endMs).toFixed(1)}V100`;
  }).join("");
}

/** The span after a drag from one moment to another: an edge moves, the window moves as it is, or a new one is drawn. */
export function dragged(what: "from" | "to" | "window" | "new", shown: Span, whole: Span, fromMs: number, toMs: number): Span {
  const by = toMs - fromMs;
  if (what === "new") return { fromMs: Math.min(fromMs, toMs), toMs: Math.max(fromMs, toMs) };
  if (what === "from") return { fromMs: Math.max(whole.fromMs, Math.min(shown.fromMs + by, shown.toMs - 1000)), toMs: shown.toMs };
  if (what === "to") return { fromMs: shown.fromMs, toMs: Math.min(whole.toMs, Math.max(shown.toMs + by, shown.fromMs + 1000)) };
  const shift = Math.max(whole.fromMs - shown.fromMs, Math.min(whole.toMs - shown.toMs, by));
  return { fromMs: shown.fromMs + shift, toMs: shown.toMs + shift };
}

export interface BrushProps {
  readonly job: Job;
  readonly metrics: Metrics | null;
  readonly whole: Span;
  readonly shown: Span;
  readonly zoomed: boolean;
  readonly zone: TimeZone;
}

interface Drag {
  readonly what: "from" | "to" | "window" | "new";
  readonly atMs: number;
}

export function Brush({ job, metrics, whole, shown, zoomed, zone }: BrushProps) {
  const box = useRef<HTMLDivElement>(null);
  const drag = useRef<Drag | null>(null);
  const moving = useSignal<Span | null>(null);
  const trace = useTrace(job, metrics, zoomed);
  const path = useMemo(() => (trace === null ? "" : silhouette(trace, whole)), [trace, whole.fromMs, whole.toMs]);
  const start = startMs(job);
  const span = moving.value ?? shown;
  const share = (ms: number) => Math.max(0, Math.min(1, (ms - whole.fromMs) / (whole.toMs - whole.fromMs)));
  const part = (ms: number) => `${(100 * share(ms)).toFixed(3)}%`;
  const wide = (from: number, to: number) => `${(100 * Math.max(0, share(to) - share(from))).toFixed(3)}%`;
  const msAt = (event: PointerEvent) => {
    const { left, width } = (box.current as HTMLDivElement).getBoundingClientRect();
    return whole.fromMs + ((event.clientX - left) / Math.max(1, width)) * (whole.toMs - whole.fromMs);
  };
  const onDown = (event: PointerEvent) => {
    const atMs = msAt(event);
    const grip = (kGrip / Math.max(1, box.current?.clientWidth ?? 1)) * (whole.toMs - whole.fromMs);
    const [near, far] = [Math.abs(atMs - shown.fromMs), Math.abs(atMs - shown.toMs)];
    const inside = atMs > shown.fromMs && atMs < shown.toMs;
    const what = Math.min(near, far) < grip ? (near < far ? "from" : "to") : inside && zoomed ? "window" : "new";
    drag.current = { what, atMs };
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
  };
  const onMove = (event: PointerEvent) => {
    const ms = msAt(event);
    cursorMs.value = ms;
    if (drag.current !== null) moving.value = dragged(drag.current.what, shown, whole, drag.current.atMs, ms);
  };
  const onUp = () => {
    const wanted = moving.value;
    drag.current = moving.value = null;
    if (wanted !== null && wanted.toMs - wanted.fromMs >= 100) zoomTo(job, whole, wanted);
  };
  const onKey = (edge: "from" | "to") => (event: KeyboardEvent) => {
    const far = ((whole.toMs - whole.fromMs) / 100) * (event.shiftKey ? 10 : 1);
    const by = event.key === "ArrowLeft" ? -far : event.key === "ArrowRight" ? far : 0;
    if (by === 0) return;
    event.preventDefault();
    zoomTo(job, whole, dragged(edge, shown, whole, 0, by), goesOn(event.timeStamp));
  };
  const pinned = pinnedMs(start);
  const grip = (edge: "from" | "to", ms: number) => (
    <rect class="brush-edge" x={part(ms)} width="24" height={kHigh} rx="6" transform="translate(-12)" tabindex={0} role="slider" aria-label={edge === "from" ? "Begin of the span on screen" : "End of the span on screen"}
      aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(100 * share(ms))} aria-valuetext={instant(ms, start, zone, 1)} onKeyDown={onKey(edge)} />
  );
  return (
    <div ref={box} class="brush-box" onPointerDown={onDown} onPointerMove={onMove} onPointerUp={onUp} onPointerCancel={() => (drag.current = moving.value = null)} onPointerLeave={() => (cursorMs.value = null)}>
      <svg class="brush-strip" width="100%" height={kHigh} role="group" aria-label="The whole job, and the span on screen">
        <svg width="100%" height={kHigh} viewBox="0 0 1000 100" preserveAspectRatio="none">
          <path class="brush-use" d={path} />
        </svg>
        <rect class="brush-off" x="0" width={part(span.fromMs)} height={kHigh} />
        <rect class="brush-off" x={part(span.toMs)} width={wide(span.toMs, whole.toMs)} height={kHigh} />
        {[span.fromMs, span.toMs].map((ms, i) => (
          <line key={i} class="brush-line" x1={part(ms)} x2={part(ms)} y1="0" y2={kHigh} />
        ))}
        {pinned === null ? null : <line class="brush-pin" x1={part(pinned)} x2={part(pinned)} y1="0" y2={kHigh} />}
        {cursorMs.value === null ? null : <line class="brush-cursor" x1={part(cursorMs.value)} x2={part(cursorMs.value)} y1="0" y2={kHigh} />}
        {grip("from", shown.fromMs)}
        {grip("to", shown.toMs)}
      </svg>
    </div>
  );
}
