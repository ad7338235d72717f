// The parts of a job's page in their order. Each has an address of its own; the overview has that of the job.

interface TabRow {
  readonly id: string;
  readonly word: string;
}

export const kTabs = [
  { id: "overview", word: "Overview" },
  { id: "system", word: "System" },
  { id: "heatmap", word: "Heat map" },
  { id: "steps", word: "Steps" },
  { id: "rules", word: "Rules" },
  { id: "report", word: "Report" },
] as const satisfies readonly TabRow[];

export type Tab = (typeof kTabs)[number]["id"];

export function isTab(text: string): text is Tab {
  return kTabs.some(({ id }) => id === text);
}

/** The path of a part of a job's page. */
export function tabPath(job: string, tab: Tab): string {
  return `/jobs/${encodeURIComponent(job)}${tab === "overview" ? "" : `/${tab}`}`;
}
