import { signal } from "@preact/signals";
import { afterOf, eventNames, minutesOf, namesOf, ruleNames, wantedEvents } from "./words";

// What was typed about what a webhook wants to be told.

export interface Wanted {
  readonly events: readonly string[];
  readonly after_seconds: number;
}

/** The three fields as they were typed, with what they say; `wanted` is a sentence where they say nothing that can be. */
export function typedOf({ events, after_seconds }: Wanted) {
  const names = signal<readonly string[]>(eventNames(events));
  const rules = signal(ruleNames(events).join(", "));
  const minutes = signal(afterOf(after_seconds));
  const all = () => JSON.stringify([[...names.value].sort(), rules.value, minutes.value]);
  const began = all();
  const finds = () => names.value.includes("rule.issues_found");
  const wanted = (): Wanted | string => {
    // Seconds that are no whole minutes were set by REST; they stay while nobody types others.
    const whole = minutesOf(minutes.value);
    const typed = minutes.value === afterOf(after_seconds) ? after_seconds : whole === null ? null : 60 * whole;
    if (names.value.length === 0) return "Choose at least one event.";
    if (finds() && typed === null) return "A finding can have to last 0 to 1440 minutes, in whole minutes.";
    return { events: wantedEvents(names.value, namesOf(rules.value)), after_seconds: finds() ? (typed ?? 0) : 0 };
  };
  return { names, rules, minutes, finds, wanted, changed: () => all() !== began };
}

export type Typed = ReturnType<typeof typedOf>;
