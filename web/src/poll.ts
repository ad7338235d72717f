import { type ReadonlySignal, signal } from "@preact/signals";
import { ApiError } from "./api";

// Asks again and again while the page can be seen: after `periodMs`, or after a fault with growing
// pauses up to 30 s. A period of null means that the answer will not change any more; so does the
// answer 401 or 403, as asking again changes nothing before somebody signs in.

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
/** Polls are due at multiples of this time, so that those of a page travel together in one request. */
const kGridMs = 2000;
const kFinal: readonly (number | null)[] = [401, 403];

function asApiError(fault: unknown): ApiError {
  if (fault instanceof ApiError) return fault;
  return new ApiError(fault instanceof Error ? fault.message : String(fault), null, null);
}

/** The pause after so many faults in a row. */
const backOffMs = (faults: number) => Math.min(kMostPauseMs, 1000 * 2 ** faults);

/** Tries until it succeeds, with the pauses of a poll; `failed` hears of each fault. */
export function persist<T>(attempt: () => Promise<T>, done: (found: T) => void, failed: () => void): void {
  let faults = 0;
  const begin = () =>
    void attempt().then(done, () => {
      faults += 1;
      failed();
      window.setTimeout(begin, backOffMs(faults));
    });
  begin();
}

/** What is to be done at a multiple of the grid: one timer for all, or their calls would leave one after the other. */
const rounds = new Map<number, Set<() => void>>();

/** Acts about `pauseMs` from now, together with others of that moment, until the function that it gives is called. */
function actAtGrid(pauseMs: number, act: () => void): () => void {
  const now = performance.now();
  const at = Math.max(Math.floor(now / kGridMs) + 1, Math.round((now + pauseMs) / kGridMs));
  const known = rounds.get(at);
  const acts = known ?? new Set();
  if (!known) {
    rounds.set(at, acts);
    window.setTimeout(() => {
      rounds.delete(at);
      acts.forEach((each) => each());
    }, Math.ceil(at * kGridMs - now));
  }
  acts.add(act);
  return () => acts.delete(act);
}

export function poll(
  ask: (stop: AbortSignal) => Promise<void>,
  periodMs: () => number | null,
): Poll {
  const state = signal<PollState>({ okAt: null, error: null, retryAt: null });
  const stopper = new AbortController();
  let forget = () => {};
  let due: number | null = null;
  let busy = false;
  let faults = 0;

  const actLater = (pauseMs: number, act: () => void) => {
    const timer = window.setTimeout(act, pauseMs);
    return () => window.clearTimeout(timer);
  };
  const plan = (pauseMs: number | null, wait = actLater) => {
    forget();
    due = pauseMs === null ? null : Date.now() + pauseMs;
    if (pauseMs !== null && !document.hidden) forget = wait(pauseMs, () => void round());
  };

  const round = async () => {
    if (busy || stopper.signal.aborted) return;
    busy = true;
    let pauseMs: number | null;
    try {
      await ask(stopper.signal);
      faults = 0;
      state.value = { okAt: Date.now(), error: null, retryAt: null };
      pauseMs = periodMs();
    } catch (fault) {
      pauseMs = fail(asApiError(fault));
    }
    busy = false;
    if (!stopper.signal.aborted) plan(pauseMs, faults === 0 && (pauseMs ?? 0) >= kGridMs ? actAtGrid : actLater);
  };

  const fail = (error: ApiError) => {
    faults += 1;
    const pauseMs = kFinal.includes(error.status) ? null : Math.max(error.waitMs, backOffMs(faults));
    if (!stopper.signal.aborted) {
      state.value = { ...state.value, error, retryAt: pauseMs === null ? null : Date.now() + pauseMs };
    }
    return pauseMs;
  };
  const onVisible = () => {
    if (document.hidden) forget();
    else if (due !== null && !busy) plan(Math.max(0, due - Date.now()));
  };

  document.addEventListener("visibilitychange", onVisible);
  void round();
  return {
    state,
    retry: () => plan(0),
    stop: () => {
      stopper.abort();
      forget();
      document.removeEventListener("visibilitychange", onVisible);
    },
  };
}
