import { signal } from "@preact/signals";
import { reportFault } from "../states";

// The parts of the page below its charts are loaded as a chunk of their own, so that the charts need not wait for them.

/** The loaded parts: null while they are on their way, without members when they could not be loaded. */
export const lazyParts = signal<Partial<typeof import("./lazy_chunk")> | null>(null);
/** The rule whose form is open. */
export const tunedRule = signal<string | null>(null);
let asked = false;

export function loadLazyParts(): void {
  if (asked) return;
  asked = true;
  import("./lazy_chunk").then(
    (loaded) => (lazyParts.value = loaded),
    () => {
      asked = false;
      lazyParts.value = {};
      reportFault(new Error("A part of this page could not be loaded. Reload to try again."));
    },
  );
}
