import { kEvents } from "./calls";
import type { Typed } from "./typed";

// The fields of the form that makes a webhook and of the dialog that changes one: what it wants to be told.

interface WantsProps {
  readonly wants: Typed;
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
