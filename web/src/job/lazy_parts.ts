import { type Signal, signal } from "@preact/signals";
import { reportFault } from "../states";

// Chunks of their own that the page loads: its charts, so that the verdict need not wait for them, and the parts below the
// charts, for which the charts need not wait.

/** Something to be loaded: null while it is on its way, without members when it could not be loaded; and the function that begins to load it. */
function lazily<T extends object>(load: () => Promise<T>): readonly [Signal<Partial<T> | null>, () => void] {
  const loaded = signal<Partial<T> | null>(null);
  let asked = false;
  const begin = () => {
    if (asked) return;
    asked = true;
    load().then(
      (found) => (loaded.value = found),
      () => {
        asked = false;
        loaded.value = {};
        reportFault(new Error("A part of this page could not be loaded. Reload to try again."));
      },
    );
  };
  return [loaded, begin];
}

export const [charts, loadCharts] = lazily(() => import("./chart"));
export const [lazyParts, loadLazyParts] = lazily(() => import("./lazy_chunk"));
/** The rule whose form is open. */
export const tunedRule = signal<string | null>(null);
