import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import { instant, plural, type TimeZone } from "../format";
import { kPalettes } from "../palette";
import { valueOf } from "../query";
import { search } from "../router";
import { theme } from "../settings";
import { endsByStart } from "./columns";
import { cursorMs, pin, pinnedMs } from "./cursor";
import { tabLink } from "./head";
import { tables } from "./lazy_parts";
import { Legend, valueAt } from "./legend";
import { drawnPart } from "./lines";
import type { Panel } from "./panels";
import { type Actions, columnsOf, optionsOf } from "./plot";
import { stallsIn } from "./stalls";
import { gapsOf, summaryOf } from "./summary";
import type { DueSpan, Span } from "./view";

export interface ChartProps {
  readonly panel: Panel;
  readonly span: DueSpan;
  readonly startMs: number;
  readonly zone: TimeZone;
  readonly sync: string;
  readonly job: string;
  /** The charts follow a running job. */
  readonly live: boolean;
  readonly zoom: (span: Span) => void;
  readonly zoomBy: (by: number, aroundMs?: number) => void;
  /** The zoom of a turn of the wheel. */
  readonly turn: (by: number, aroundMs?: number) => void;
  readonly reset: () => void;
}

/** A key of everything that needs a new canvas when it changes; new samples or another span do not. */
function shapeOf({ panel, zone, startMs }: ChartProps): string {
  const lines = panel.traces.map(({ label, tone, low }) => [label, tone, low !== null]);
  return JSON.stringify([panel.id, lines, panel.threshold, zone, startMs, theme.value]);
}

function usePlot(props: ChartProps, moved: (index: number | null) => void) {
  const place = useRef<HTMLDivElement | null>(null);
  const width = useRef(0);
  // All charts of a page are measured before the first of them is drawn: each drawing would make the page be laid out again.
  const placed = useCallback((box: HTMLDivElement | null) => {
    place.current = box;
    if (box) width.current = box.clientWidth;
  }, []);
  const plot = useRef<uPlot | null>(null);
  const walkedMs = useRef<number | null>(null); // where the keys have left the cursor, which uPlot keeps as a pixel
  const own = useRef(false); // the cursor is moved by this chart and not by a pointer
  const walkTo = (u: uPlot, ms: number | null) => {
    own.current = true;
    moveCursor(u, ms === null ? -10 : u.valToPos(ms, "x"));
    own.current = false;
    walkedMs.current = ms;
  };
  const before = useRef<number | null>(null); // the pin before the click that may be the first of two
  const latest = useRef(props);
  latest.current = props;
  const shape = shapeOf(props);
  const { traces, stalls } = props.panel;
  const data = useMemo(() => columnsOf(props.panel), [traces]);
  const ends = useRef<ReadonlyMap<number, number>>(new Map());
  useMemo(() => (ends.current = endsByStart(props.panel)), [props.panel]);
  const { fromMs: min, toMs: max } = props.span;
  const pinned = pinnedMs(props.startMs);

  useLayoutEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const { panel, zone, startMs, sync } = latest.current;
    const act: Actions = {
      zoom: (fromMs, toMs) => latest.current.zoom({ fromMs, toMs }),
      reset: () => {
        pin(before.current, latest.current.startMs);
        latest.current.reset();
      },
      moved: (to) => {
        if (!own.current) walkedMs.current = null;
        moved(to);
      },
      ends: () => ends.current,
      stalls: () => latest.current.panel.stalls,
      gaps: () => {
        const { panel: { sparse, traces: [first] }, span: { toMs, dueMs = toMs } } = latest.current;
        return first && !sparse ? gapsOf(first, dueMs) : [];
      },
      pinned: () => pinnedMs(startMs),
    };
    const context = { palette: kPalettes[theme.peek()], zone, startMs };
    const made = new uPlot(optionsOf(panel, context, width.current, sync, act), data, box);
    plot.current = made;
    const watch = new ResizeObserver(() => {
      width.current = box.clientWidth;
      const height = box.clientHeight; // more of it on a full screen
      if (width.current !== made.width || height !== made.height) made.setSize({ width: width.current, height });
    });
    watch.observe(box);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape]);

  useLayoutEffect(() => {
    // uPlot draws once all of this was said, in a microtask of its own, and then has the new scale.
    const keptMs = walkedMs.current;
    plot.current?.setData(data, false);
    plot.current?.setScale("x", { min, max });
    plot.current?.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    queueMicrotask(() => {
      if (plot.current && keptMs !== null && keptMs >= min && keptMs <= max) walkTo(plot.current, keptMs);
      performance.mark("chart");
    });
  }, [data, min, max, shape, stalls, pinned]);
  const { listenToWheel } = tables.value ?? {};
  useEffect(() => place.current && listenToWheel?.(place.current, (x) => {
    const u = plot.current;
    return u && u.posToVal(x - u.over.getBoundingClientRect().left, "x");
  }, (by, ms) => latest.current.turn(by, ms)) || undefined, [listenToWheel]);
  return { placed, plot, data, pinned, before, walkTo };
}

/** Moves the cursor of this chart and of all that share it. The third argument is not in uPlot's types. */
function moveCursor(u: uPlot, left: number): void {
  const move = u.setCursor as (at: { left: number; top: number }, fire: boolean, share: boolean) => void;
  move({ left, top: left < 0 ? -10 : 0 }, true, true);
}

/** The time to which the arrow keys walk from a row of the data, or null where the span has none. */
function walked(u: uPlot, index: number | null, by: number, span: Span): number | null {
  const times = u.data[0];
  const first = times.findIndex((ms) => ms >= span.fromMs);
  const after = times.findIndex((ms) => ms > span.toMs);
  const last = (after < 0 ? times.length : after) - 1;
  const start = index ?? (by > 0 ? first - 1 : last + 1);
  const to = Math.max(first, Math.min(last, start + by));
  return times[to] ?? null;
}

function words(panel: Panel, ms: number | undefined, props: ChartProps): string {
  if (ms === undefined) return "no moment chosen; left and right arrow walk along the chart";
  const values = panel.traces.map((trace) => `${trace.label} ${valueAt(trace, ms, panel.unit) || "no value"}`);
  return `${instant(ms, props.startMs, props.zone, 1)}: ${values.join(", ")}`;
}

function Canvas(props: ChartProps & { readonly whole: Panel; readonly titleId: string; readonly summaryId: string }) {
  const { panel, span } = props;
  const index = useSignal<number | null>(null);
  const { placed, plot, data, pinned, before, walkTo } = usePlot(props, (to) => {
    index.value = to;
    cursorMs.value = (to === null ? null : plot.current?.data[0][to]) ?? null;
  });
  // With no pointer on the chart the pinned moment counts, if it is in sight.
  const after = data[0].findIndex((each) => each > (pinned ?? NaN));
  const ms = data[0][index.value ?? (pinned !== null && pinned >= span.fromMs ? after - 1 : -1)];
  const onKeyDown = (event: KeyboardEvent) => {
    const u = plot.current;
    const far = event.shiftKey ? 10 : 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: -far, ArrowRight: far, PageUp: -10, PageDown: 10, Home: -1e9, End: 1e9,
    };
    const by = moves[event.key];
    if (u && by !== undefined) walkTo(u, walked(u, index.value, by, span));
    else if (u && event.key === "Escape") pinned !== null && index.value === null ? pin(null, props.startMs) : walkTo(u, null);
    else if (event.key === "Enter" && ms !== undefined) pin(ms, props.startMs);
    else if (event.key === "+") props.zoomBy(0.5, ms);
    else return;
    event.preventDefault();
  };
  const onClick = ({ detail }: MouseEvent) => {
    if (detail > 1) return; // a double click shows the whole job and pins nothing
    before.current = pinned;
    if (index.value !== null && ms !== undefined) pin(ms, props.startMs);
  };
  return (
    <>
      <Legend panel={props.whole} drawn={panel} span={span} ms={ms} job={props.job} live={props.live} />
      <div
        ref={placed}
        class="plot"
        tabIndex={0}
        role="slider"
        aria-labelledby={props.titleId}
        aria-describedby={props.summaryId}
        aria-valuemin={0}
        aria-valuemax={Math.round((span.toMs - span.fromMs) / 1000)}
        aria-valuenow={ms === undefined ? 0 : Math.round((ms - span.fromMs) / 1000)}
        aria-valuetext={words(panel, ms, props)}
        onKeyDown={onKeyDown}
        onClick={onClick}
      />
    </>
  );
}

export function Chart(given: ChartProps) {
  const { panel: whole, span, zone, startMs } = given;
  const lines = valueOf(search.value, "lines");
  const panel = useMemo(() => drawnPart(whole, search.peek()), [whole, lines]);
  const props = { ...given, panel };
  const table = useSignal(false);
  const { ChartTable, ChartMenu } = tables.value ?? {};
  const has = panel.traces.length > 0;
  const sentence = useMemo(() => summaryOf(panel, span, zone, startMs), [panel, span.fromMs, span.toMs, zone, startMs]);
  const slow = stallsIn(panel.stalls, span);
  const titleId = `chart-${panel.id}`;
  const summaryId = `${titleId}-summary`;
  const chosen = valueOf(search.value, "show") === panel.id;
  const place = useRef<HTMLElement>(null);
  useEffect(() => void (chosen && place.current?.scrollIntoView({ block: "center" })), [chosen]);
  return (
    <section ref={place} class={`card chart${has ? "" : " chart-empty"}${panel.stacks ? " chart-tall" : ""}${chosen ? " chart-chosen" : ""}`} aria-labelledby={titleId}>
      <div class="chart-head">
        <h3 id={titleId}>{panel.title}</h3>
        <span class="chart-note">{panel.note}</span>
        {has && ChartMenu ? <ChartMenu {...props} card={place} table={table} /> : null}
      </div>
      {!has ? <div class="plot-empty"><p id={summaryId}>{sentence}</p></div> : null}
      {has && table.value && ChartTable ? <ChartTable panel={panel} span={span} startMs={startMs} zone={zone} /> : null}
      {has && !table.value ? <Canvas {...props} whole={whole} titleId={titleId} summaryId={summaryId} /> : null}
      {has ? <p class="summary" id={summaryId}>{sentence}</p> : null}
      {has && panel.stalls && slow > 0 ? (
        <p class="summary">
          <span class="tone-amber" aria-hidden="true">▼</span> {plural(slow, "slow place")}. <a href={tabLink(props.job, "rules", panel.stalls.rule)}>{panel.stalls.rule}</a>: {panel.stalls.sentence}
        </p>
      ) : null}
    </section>
  );
}
