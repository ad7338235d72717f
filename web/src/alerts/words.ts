import { duration } from "../format";
import type { StatusStyle } from "../status";
import { type Attempt, type Delivery, kEvents } from "./calls";

// What became of a message, in words.

const kStyles: Readonly<Record<Delivery["state"], StatusStyle & { readonly word: string }>> = {
  ready: { icon: "wait", tone: "grey", word: "Waits" },
  running: { icon: "dot", tone: "blue", word: "Being sent" },
  delivered: { icon: "check", tone: "green", word: "Delivered" },
  dead: { icon: "cross", tone: "red", word: "Given up" },
  withdrawn: { icon: "dot", tone: "grey", word: "Not sent" },
};

export function styleOf({ state }: Pick<Delivery, "state">) {
  return kStyles[state] ?? kStyles.ready;
}

/** What the receiver answered to one attempt, and how fast. */
export function attemptWords({ status, duration_ms, error }: Attempt): string {
  const took = duration_ms === null ? "" : ` in ${duration(duration_ms / 1000)}`;
  if (status !== null) return `HTTP ${status}${took}`;
  return error ?? "no answer yet";
}

/** The state of a message in one line: the last attempt, and when the next one comes. */
export function deliveryWords({ state, attempts, due_us, created_us, event }: Delivery, nowMs: number): string {
  const held = duration(Math.round((due_us - created_us) / 1e6));
  if (state === "withdrawn") return `it, or its job, was over before it had lasted ${held}`;
  const last = attempts[attempts.length - 1];
  const tried = last === undefined ? "" : attemptWords(last);
  const many = attempts.length > 1 ? `, attempt ${attempts.length}` : "";
  if (state === "ready") {
    const wait = due_us / 1e6 - nowMs / 1000;
    if (tried === "" && wait > 1 && event === "rule.issues_found") return `sent in ${duration(wait)} if it lasts so long`;
    return `${tried === "" ? "" : `${tried}${many}; `}next ${wait > 1 ? `in ${duration(wait)}` : "now"}`;
  }
  return `${tried}${many}`;
}

/** Why a text cannot be the address of a webhook; "" where it can, as far as this page knows. */
export function refusalOf(text: string): string {
  try {
    const { protocol, username } = new URL(text);
    if (protocol !== "http:" && protocol !== "https:") return "It must begin with https:// or http://.";
    return username === "" ? "" : "It must not contain a name and a password.";
  } catch {
    return "It must be a whole address, such as https://alerts.example.com/stepscope.";
  }
}

/** The whole minutes of a text, none being 0; null where it is something else or more than a day. */
export function minutesOf(text: string): number | null {
  const minutes = /^\s*\d{0,4}\s*$/.test(text) ? Number(text) : NaN;
  return minutes <= 1440 ? minutes : null;
}

/** Minutes as they are typed for so many seconds; "" for none. */
export const afterOf = (seconds: number): string => (seconds === 0 ? "" : `${seconds / 60}`);

/** Names that were typed, in the order in which they came, each once. */
export const namesOf = (text: string): readonly string[] => [...new Set(text.split(/[\s,;]+/).filter((name) => name !== ""))];

/** The events as the service takes them: those of rules once for each rule that is named, as they are without any. */
export function wantedEvents(events: readonly string[], rules: readonly string[]): readonly string[] {
  return events.flatMap((event) => (event.startsWith("rule.") && rules.length > 0 ? rules.map((rule) => `${event}:${rule}`) : [event]));
}

/** The events of a webhook without the rules that they name; of one that is sent all, all but `fleet.weekly`, which must be named. */
export function eventNames(events: readonly string[]): readonly string[] {
  if (events.length === 0) return kEvents.map(([name]) => name).filter((name) => name !== "fleet.weekly");
  return [...new Set(events.map((event) => event.split(":")[0] ?? ""))];
}

/** The rules that any event of a webhook names. */
export const ruleNames = (events: readonly string[]): readonly string[] => [...new Set(events.flatMap((event) => event.split(":").slice(1)))];

/** Whether its events of rules name different rules, which one field for all of them cannot show. */
export function ofOtherRules(events: readonly string[]): boolean {
  const of = eventNames(events).filter((name) => name.startsWith("rule."));
  const rulesOf = (name: string) => JSON.stringify(events.filter((event) => event.split(":")[0] === name).map((event) => event.slice(name.length)).sort());
  return new Set(of.map(rulesOf)).size > 1;
}

/** What a webhook is sent, in words: events of the same rules together. */
export function eventWords(events: readonly string[]): string {
  if (events.length === 0) return "all events";
  const rules = new Map<string, string[]>();
  for (const event of events) {
    const [name = "", rule] = event.split(":");
    rules.set(name, [...(rules.get(name) ?? []), ...(rule === undefined ? [] : [rule])]);
  }
  return [...rules].map(([name, of]) => (of.length === 0 ? name : `${name} of ${of.join(", ")}`)).join(" · ");
}
