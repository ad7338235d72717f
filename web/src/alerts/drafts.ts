import { type Signal, signal } from "@preact/signals";
import { type Typed, typedOf, type Wanted } from "./typed";

// What was typed into the forms of webhooks and is not saved: it outlives the page that shows it.

export interface Draft {
  readonly url: Signal<string>; // the address, which is typed for a new webhook only
  readonly wants: Typed;
  readonly began: Wanted | string; // what the fields said when they were opened
}

const drafts = new Map<string, Draft>();

export const isChanged = ({ url, wants }: Draft): boolean => url.value.trim() !== "" || wants.changed();

/** The draft of the webhook of this number, "" being a new one, which begins with `wanted`. */
export function draftOf(id: string, wanted: Wanted): Draft {
  const known = drafts.get(id);
  if (known && isChanged(known)) return known;
  const wants = typedOf(wanted);
  const made = { url: signal(""), wants, began: wants.wanted() };
  drafts.set(id, made);
  return made;
}

export const anyChanged = (): boolean => [...drafts.values()].some(isChanged);

export function forget(id: string): void {
  drafts.delete(id);
}
