import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { readMetrics } from "../api";
import { instant, type TimeZone } from "../format";
import type { Job, Metrics, RankSteps } from "../model";
import { cursorMs, pinnedMs } from "./cursor";
import { kCpuRow, kGpuRow, meanOfAll } from "./panels";
import { kWholeJob } from "./strip/calls";
import { epochs } from "./strip/marks";
import { Marks, useLists } from "./strip/picture";
import { lastEndMs } from "./summary";
import type { Trace } from "./traces";
import { goesOn, type Span, startMs, zoomBy, zoomTo } from "./view";
import { listenToWheel } from "./wheel";

// The whole job as a strip: how busy it was, which part of it is on screen, and the way to another part.

const kHigh = 36;
const kGrip = 8; // px around an edge that take hold of it

interface WholeJob {
  readonly job: string;
  readonly trace: Trace;
  readonly epochs: readonly number[];
}

/** The use of the whole job and its epochs, kept while parts of it are on screen. */
let remembered: WholeJob | null = null;

/** The use of all GPUs together; of all nodes where no GPU was measured. */
export const useOf = (metrics: Metrics): Trace | null => meanOfAll(metrics, kGpuRow) ?? meanOfAll(metrics, kCpuRow);

function wholeJob(job: string, metrics: Metrics): WholeJob | null {
  const trace = useOf(metrics);
  return trace === null ? null : { job, trace, epochs: epochs(metrics) };
}

/** What is known of the whole job: from the charts' own samples where they show all of it, else asked for once. */
function useWholeJob(job: Job, metrics: Metrics | null, zoomed: boolean): WholeJob | null {
  const asked = useSignal(0);
  const own = useMemo(() => (metrics === null || zoomed ? null : wholeJob(job.name, metrics)), [job, metrics, zoomed]);
  if (own !== null) remembered = own;
  const missing = remembered?.job !== job.name && (zoomed || metrics === null);
  useEffect(() => {
    if (!missing) return undefined;
    const stop = new AbortController();
    readMetrics(job.name, kWholeJob, stop.signal).then((found) => {
      remembered = wholeJob(job.name, found) ?? remembered;
      asked.value += 1;
    }, () => {});
    return () => stop.abort();
  }, [missing, job.name]);
  void asked.value; // an answer is drawn when it comes
  return remembered?.job === job.name ? remembered : null;
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
  readonly found: RankSteps | undefined;
}

interface Drag {
  readonly what: "from" | "to" | "window" | "new";
  readonly atMs: number;
}

/** Ctrl and the wheel zoom around the pointer, or around the edge of the span that is next to it. */
function useWheel(box: { readonly current: HTMLElement | null }, props: BrushProps, msAt: (clientX: number) => number): void {
  const latest = useRef({ props, msAt });
  latest.current = { props, msAt };
  useEffect(() => box.current === null ? undefined : listenToWheel(box.current, (x) => latest.current.msAt(x), (by, ms) => {
    const { job, whole, shown } = latest.current.props;
    zoomBy(job, whole, by, Math.max(shown.fromMs, Math.min(shown.toMs, ms)), goesOn(performance.now()));
  }), []);
}

export function Brush(props: BrushProps) {
  const { job, metrics, whole, shown, zoomed, zone } = props;
  const box = useRef<HTMLDivElement>(null);
  const drag = useRef<Drag | null>(null);
  const moving = useSignal<Span | null>(null);
  const known = useWholeJob(job, metrics, zoomed);
  const trace = known?.trace;
  const path = useMemo(() => (trace === undefined ? "" : silhouette(trace, whole)), [trace, whole.fromMs, whole.toMs]);
  const lists = useLists(job);
  const start = startMs(job);
  const span = moving.value ?? shown;
  const share = (ms: number) => Math.max(0, Math.min(1, (ms - whole.fromMs) / (whole.toMs - whole.fromMs)));
  const part = (ms: number) => `${(100 * share(ms)).toFixed(3)}%`;
  const wide = (from: number, to: number) => `${(100 * Math.max(0, share(to) - share(from))).toFixed(3)}%`;
  const msAt = (clientX: number) => {
    const { left, width } = (box.current as HTMLDivElement).getBoundingClientRect();
    return whole.fromMs + ((clientX - left) / Math.max(1, width)) * (whole.toMs - whole.fromMs);
  };
  useWheel(box, props, msAt);
  const onDown = (event: PointerEvent) => {
    const atMs = msAt(event.clientX);
    const grip = (kGrip / Math.max(1, box.current?.clientWidth ?? 1)) * (whole.toMs - whole.fromMs);
    const [near, far] = [Math.abs(atMs - shown.fromMs), Math.abs(atMs - shown.toMs)];
    const inside = atMs > shown.fromMs && atMs < shown.toMs;
    const what = Math.min(near, far) < grip ? (near < far ? "from" : "to") : inside && zoomed ? "window" : "new";
    drag.current = { what, atMs };
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
  };
  const onMove = (event: PointerEvent) => {
    const ms = msAt(event.clientX);
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
        <Marks {...props} lists={lists} epochs={known?.epochs ?? []} high={kHigh} part={part} wide={wide} />
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
