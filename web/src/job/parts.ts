import { signal } from "@preact/signals";
import { reportFault } from "../states";

// Parts of the page that come behind its charts, in a file of their own: nothing waits for them.

/** Null while they are on their way; without members when they could not be loaded. */
export const parts = signal<Partial<typeof import("./steps")> | null>(null);
/** The rule whose form is open. */
export const tuned = signal<string | null>(null);
let asked = false;

export function loadParts(): void {
  if (asked) return;
  asked = true;
  import("./steps").then(
    (loaded) => (parts.value = loaded),
    () => {
      asked = false;
      parts.value = {};
      reportFault(new Error("A part of this page could not be loaded. Reload to try again."));
    },
  );
}
