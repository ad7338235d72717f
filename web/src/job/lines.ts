import { valueOf } from "../query";
import { search, setKeys } from "../router";
import type { Panel } from "./panels";

// Which lines of a chart are drawn: all, or those that the link names as `lines=CHART~LINE~LINE,CHART~LINE`.

const escaped = (text: string) => text.replace(/[%,]/g, encodeURIComponent).replaceAll("~", "%7E");

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const entriesOf = (query: string) => valueOf(query, "lines").split(",").filter(Boolean).map((entry) => entry.split("~").map(unescaped));

/** The panel with the lines that the link names; with all where it names none that there is. */
export function drawnPart(panel: Panel, query: string): Panel {
  const [, ...labels] = entriesOf(query).find(([id]) => id === panel.id) ?? [];
  const traces = panel.traces.filter(({ label }) => labels.includes(label));
  return traces.length === 0 || traces.length === panel.traces.length ? panel : { ...panel, traces, devices: null };
}

/** The lines after a click on one: it alone, or all where it was alone; `more`: it comes or goes. */
export function linesAfter(all: readonly string[], drawn: readonly string[], label: string, more: boolean): readonly string[] {
  if (!more) return drawn.length === 1 && drawn[0] === label ? all : [label];
  const next = all.filter((each) => (each === label) !== drawn.includes(each));
  return next.length === 0 ? all : next;
}

/** The value of the key with other lines of a chart. */
export function withLines(query: string, panel: Panel, labels: readonly string[]): string {
  const others = entriesOf(query).filter(([id]) => id !== panel.id);
  const own = labels.length === panel.traces.length ? [] : [[panel.id, ...labels]];
  return [...others, ...own].map((entry) => entry.map(escaped).join("~")).join(",");
}

/** Draws other lines of the whole panel. It leaves no entry for Back. */
export function chooseLine(panel: Panel, label: string, more: boolean): void {
  const labels = ({ traces }: Panel) => traces.map((trace) => trace.label);
  const query = search.peek();
  setKeys({ lines: withLines(query, panel, linesAfter(labels(panel), labels(drawnPart(panel, query)), label, more)) }, true);
}
