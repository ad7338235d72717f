import { signal } from "@preact/signals";
import { reportFault } from "../states";

// Parts of the page that come behind its charts, in a file of their own: nothing waits for them.

type Parts = typeof import("./histogram");

export const parts = signal<Parts | null>(null);
let asked = false;

export function loadParts(): void {
  if (asked) return;
  asked = true;
  import("./histogram").then(
    (loaded) => (parts.value = loaded),
    () => ((asked = false), reportFault(new Error("A part of this page could not be loaded. Reload to try again."))),
  );
}
