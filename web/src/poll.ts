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
    if (!stopper.signal.aborted) plan(pauseMs);
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
