import { computed, signal } from "@preact/signals";
import { clockAheadMs } from "./api";
import type { TimeZone } from "./format";
import type { Theme } from "./palette";
import { valueOf } from "./query";
import { search } from "./router";

// Settings of the reader, not of the view: they are not in the link, but in this browser's storage where it allows that.

export type ThemeChoice = "system" | Theme;

function stored(key: string): string | null {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null;
  }
}

function store(key: string, value: string): void {
  try {
    window.localStorage.setItem(key, value);
  } catch {
    // A browser without storage forgets the choice; that is all.
  }
}

function media(query: string) {
  const list = window.matchMedia(query);
  const matches = signal(list.matches);
  list.addEventListener("change", () => (matches.value = list.matches));
  return matches;
}

export const kThemes: readonly ThemeChoice[] = ["system", "light", "dark"];
const systemDark = media("(prefers-color-scheme: dark)");
export const narrow = media("(max-width: 719px)");

const asked = stored("stepscope.theme") as ThemeChoice;
export const themeChoice = signal<ThemeChoice>(kThemes.includes(asked) ? asked : "system");
export const theme = computed<Theme>(() => {
  if (themeChoice.value !== "system") return themeChoice.value;
  return systemDark.value ? "dark" : "light";
});
theme.subscribe((value) => (document.documentElement.dataset.theme = value));

export function setTheme(choice: ThemeChoice): void {
  themeChoice.value = choice;
  store("stepscope.theme", choice);
}

export function nextTheme(): void {
  setTheme(kThemes[(kThemes.indexOf(themeChoice.value) + 1) % kThemes.length] ?? "system");
}

export const keysOn = signal(stored("stepscope.keys") !== "off");
export function setKeysOn(on: boolean): void {
  keysOn.value = on;
  store("stepscope.keys", on ? "on" : "off");
}

/** The time zone of the view: from the link, else the page's own. */
export function zoneOf(fallback: TimeZone): TimeZone {
  const text = valueOf(search.value, "tz");
  return text === "utc" || text === "local" || text === "relative" ? text : fallback;
}

/** The present by this browser's clock, in ms since the epoch; ticks once a second while the page can be seen. */
export const now = signal(Date.now());
window.setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);

/** The present by the service's clock, whose times are those of jobs: this browser's may be wrong. */
export const serviceNow = computed(() => now.value + clockAheadMs.value);
