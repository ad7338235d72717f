import type { ComponentChildren } from "preact";
import { ago, type TimeZone } from "../format";
import type { Job, Metrics, RankSteps } from "../model";
import { setKeys } from "../router";
import { now } from "../settings";
import type { Poll } from "../poll";
import { paused } from "./data";
import { tables } from "./lazy_parts";
import { isRunning, resetZoom, type Span, spanWords, startMs, zoomBy } from "./view";

// The toolbar above the charts: the span of time on screen, its zoom, and whether it follows the running job.

export function toggleLive(): void {
  setKeys({ live: paused.peek() ? null : "0" });
}

/** Back to the newest samples of the whole job. */
function resume(): void {
  setKeys({ live: null, from: null, to: null });
}

function Live({ job, zoomed, poll }: { job: Job; zoomed: boolean; poll: Poll | null }) {
  if (!isRunning(job)) return <span class="chip">Finished</span>;
  if (paused.value || zoomed) {
    const okAt = poll?.state.value.okAt ?? null;
    return (
      <button type="button" class="chip chip-amber" onClick={resume}>
        Paused{okAt === null ? "" : `, picture from ${ago((now.value - okAt) / 1000)}`} · Resume <kbd>L</kbd>
      </button>
    );
  }
  return (
    <button type="button" class="chip chip-live" onClick={toggleLive} aria-label="Live. Pause">
      <span class="pulse" aria-hidden="true" /> Live
    </button>
  );
}

export interface ToolbarProps {
  readonly job: Job;
  readonly whole: Span;
  readonly shown: Span;
  readonly zoomed: boolean;
  readonly zone: TimeZone;
  readonly poll: Poll | null;
  readonly metrics: Metrics | null;
  readonly found: RankSteps | undefined;
  readonly children?: ComponentChildren;
}

export function Toolbar({ poll, children, ...place }: ToolbarProps) {
  const { job, whole, shown, zoomed, zone } = place;
  const { Brush, CopyLink } = tables.value ?? {};
  const live = isRunning(job) && !paused.value && !zoomed;
  return (
    <>
    <div class="toolbar" role="group" aria-label="Span of time">
      <span class="toolbar-span">
        {`${zoomed ? "" : "Whole job, "}${spanWords(shown, startMs(job), zone)}`}
      </span>
      <button type="button" disabled={!zoomed} onClick={() => zoomBy(job, whole, 2)}>
        Zoom out
      </button>
      <button type="button" onClick={() => zoomBy(job, whole, 0.5)}>
        Zoom in
      </button>
      <button type="button" disabled={!zoomed} onClick={resetZoom}>
        Reset
      </button>
      {CopyLink ? <CopyLink span={shown} startMs={startMs(job)} live={live} /> : <button type="button" disabled>Copy link</button>}
      {children}
      <span class="toolbar-hint">Drag on a chart to zoom</span>
      <Live job={job} zoomed={zoomed} poll={poll} />
    </div>
    <div class="brush">{Brush ? <Brush {...place} /> : null}</div>
    </>
  );
}
