import { type ReadonlySignal, signal } from "@preact/signals";
import { ApiError } from "./api";

// Asks again and again while the page can be seen: after `periodMs`, or after a fault with growing
// pauses up to 30 s. A period of null means that the answer will not change any more.

export interface PollState {
  readonly okAt: number | null;
  readonly error: ApiError | null;
  readonly retryAt: number | null;
}

export interface Poll {
  readonly state: ReadonlySignal<PollState>;
  retry(): void;
  stop(): void;
}

const kMostPauseMs = 30_000;

function asApiError(fault: unknown): ApiError {
  if (fault instanceof ApiError) return fault;
  return new ApiError(fault instanceof Error ? fault.message : String(fault), null, null);
}

export function poll(
  ask: (stop: AbortSignal) => Promise<void>,
  periodMs: () => number | null,
): Poll {
  const state = signal<PollState>({ okAt: null, error: null, retryAt: null });
  const stopper = new AbortController();
  let timer = 0;
  let due: number | null = null;
  let busy = false;
  let faults = 0;

  const plan = (pauseMs: number | null) => {
    window.clearTimeout(timer);
    due = pauseMs === null ? null : Date.now() + pauseMs;
    if (due !== null && !document.hidden) timer = window.setTimeout(() => void round(), pauseMs ?? 0);
  };

  const round = async () => {
    if (busy || stopper.signal.aborted) return;
    busy = true;
    try {
      await ask(stopper.signal);
      faults = 0;
      state.value = { okAt: Date.now(), error: null, retryAt: null };
    } catch (fault) {
      if (!stopper.signal.aborted) fail(asApiError(fault));
    }
    busy = false;
    if (!stopper.signal.aborted) plan(faults === 0 ? periodMs() : pause());
  };

  const pause = () => Math.min(kMostPauseMs, 1000 * 2 ** faults);
  const fail = (error: ApiError) => {
    faults += 1;
    state.value = { ...state.value, error, retryAt: Date.now() + pause() };
  };
  const onVisible = () => {
    if (document.hidden) window.clearTimeout(timer);
    else if (due !== null && !busy) plan(Math.max(0, due - Date.now()));
  };

  document.addEventListener("visibilitychange", onVisible);
  void round();
  return {
    state,
    retry: () => plan(0),
    stop: () => {
      stopper.abort();
      window.clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    },
  };
}
