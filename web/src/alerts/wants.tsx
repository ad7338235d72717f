import { useSignal } from "@preact/signals";
import { kEvents } from "./calls";
import { afterOf, eventNames, minutesOf, namesOf, ruleNames, wantedEvents } from "./words";

// What a webhook wants to be told: the fields of the form that makes one and of the dialog that changes one.

export interface Wanted {
  readonly events: readonly string[];
  readonly after_seconds: number;
}

/** The three fields as they were typed, with what they say; `wanted` is a sentence where they say nothing that can be. */
export function useWants({ events, after_seconds }: Wanted) {
  const names = useSignal<readonly string[]>(eventNames(events));
  const rules = useSignal(ruleNames(events).join(", "));
  const minutes = useSignal(afterOf(after_seconds));
  const finds = () => names.value.includes("rule.issues_found");
  const wanted = (): Wanted | string => {
    // Seconds that are no whole minutes were set by REST; they stay while nobody types others.
    const whole = minutesOf(minutes.value);
    const typed = minutes.value === afterOf(after_seconds) ? after_seconds : whole === null ? null : 60 * whole;
    if (names.value.length === 0) return "Choose at least one event.";
    if (finds() && typed === null) return "A finding can have to last 0 to 1440 minutes, in whole minutes.";
    return { events: wantedEvents(names.value, namesOf(rules.value)), after_seconds: finds() ? (typed ?? 0) : 0 };
  };
  return { names, rules, minutes, finds, wanted };
}

interface WantsProps {
  readonly wants: ReturnType<typeof useWants>;
  readonly typed: () => void;
}

export function Wants({ wants: { names, rules, minutes, finds }, typed }: WantsProps) {
  const toggle = (name: string) => {
    names.value = names.value.includes(name) ? names.value.filter((each) => each !== name) : [...names.value, name];
    typed();
  };
  return (
    <>
      <fieldset class="alert-events">
        <legend>It is sent a message when</legend>
        {kEvents.map(([name, words]) => (
          <label key={name} class="tick">
            <input type="checkbox" checked={names.value.includes(name)} onChange={() => toggle(name)} />
            <span>
              {words} <code>{name}</code>
            </span>
          </label>
        ))}
      </fieldset>
      {names.value.some((name) => name.startsWith("rule.")) ? (
        <label class="alert-rules">
          <span>Of these rules only</span>
          <input name="rules" autocomplete="off" spellcheck={false} placeholder="all, or IdleGPU, Straggler" value={rules.value}
            onInput={(event) => ((rules.value = event.currentTarget.value), typed())} />
        </label>
      ) : null}
      {finds() ? (
        <label class="alert-rules">
          <span>Only what lasts for (minutes)</span>
          <input name="minutes" inputMode="numeric" autocomplete="off" placeholder="0: told at once" value={minutes.value} aria-describedby="minutes-help"
            onInput={(event) => ((minutes.value = event.currentTarget.value), typed())} />
          <small id="minutes-help" class="faint">With 10, a rule that finds something for less than 10 minutes sends no message, nor one that it is over.</small>
        </label>
      ) : null}
    </>
  );
}
