import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { keysOn } from "./settings";

// Single keys act only while no field has the focus, and can be switched off (WCAG 2.1.4).

export interface Shortcut {
  readonly keys: string; // "/", "g j", "Escape"
  readonly help: string;
  readonly act: () => void;
}

export const shortcuts = signal<readonly Shortcut[]>([]);
let lead = "";

function inField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, select, textarea, [contenteditable]");
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const typing = inField(event.target);
  if (event.key !== "Escape" && (typing || !keysOn.value)) return;
  if (document.querySelector("dialog[open]")) return;
  const pressed = lead === "" ? event.key : `${lead} ${event.key}`;
  lead = lead === "" && event.key === "g" ? "g" : "";
  const found = [...shortcuts.value].reverse().find(({ keys }) => keys === pressed);
  if (!found) return;
  event.preventDefault();
  found.act();
}

export function startKeys(): void {
  document.addEventListener("keydown", onKey);
}

/** Shortcuts of a place, for as long as it is on screen. `list` must be made once. */
export function useShortcuts(list: readonly Shortcut[]): void {
  useEffect(() => {
    shortcuts.value = [...shortcuts.peek(), ...list];
    return () => {
      shortcuts.value = shortcuts.peek().filter((shortcut) => !list.includes(shortcut));
    };
  }, [list]);
}
