import { type Signal, signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { loadChunk } from "../states";
import type { Tab } from "../tabs";
import type { View } from "./frame";

// Chunks of their own that the page loads: each of its parts, and the charts, for which the verdict need not wait.

/** Something to be loaded: null while it is on its way, without members while it could not be loaded; and the function that begins to load it. */
export function lazily<T extends object>(load: () => Promise<T>): readonly [Signal<Partial<T> | null>, () => void] {
  const loaded = signal<Partial<T> | null>(null);
  let asked = false;
  const begin = () => {
    if (asked) return;
    asked = true;
    loadChunk(load, (found) => (loaded.value = found), () => (loaded.value = {}));
  };
  return [loaded, begin];
}

export const [charts, loadCharts] = lazily(() => import("./chart"));
export const [tables, loadTables] = lazily(() => import("./late_chunk"));
export const [worst, loadWorst] = lazily(() => import("./worst"));
export const [facts, loadFacts] = lazily(() => import("./overview/facts_chunk"));

type Part = { readonly Page: FunctionComponent<{ readonly view: View }> };
const kParts: Readonly<Record<Tab, readonly [Signal<Partial<Part> | null>, () => void]>> = {
  overview: lazily<Part>(() => import("./overview/page")),
  system: lazily<Part>(() => import("./system/page")),
  heatmap: lazily<Part>(() => import("./heat/page")),
  steps: lazily<Part>(() => import("./steps/page")),
  rules: lazily<Part>(() => import("./rules/page")),
  report: lazily<Part>(() => import("./report/page")),
};

export function loadPart(tab: Tab): void {
  kParts[tab][1]();
}

/** The part of the page, or undefined until it is loaded. */
export function partOf(tab: Tab): Part["Page"] | undefined {
  return kParts[tab][0].value?.Page;
}
