import { count } from "../format";
import type { RuleParameter } from "../model";
import type { Given } from "./tune_calls";

// The parameters of a rule as text that people change. What is good the service says.

export type Texts = Readonly<Record<string, string>>;

export const textOf = (value: number | string | null | undefined) => (value === null || value === undefined ? "" : String(value));

/** One that is text in any case; a count of samples may be a number or a time. */
const isText = (parameter: RuleParameter) => parameter.minimum === null;

/** What is sent: a number where it is one, and null, which is the default, where nothing stands. */
export function givenOf(parameters: readonly RuleParameter[], texts: Texts): Given {
  const entries = parameters.map((parameter) => {
    const text = (texts[parameter.name] ?? "").trim();
    const value = Number(text);
    const given = text === "" ? null : isText(parameter) || Number.isNaN(value) ? text : value;
    return [parameter.name, given] as const;
  });
  return Object.fromEntries(entries);
}

const withUnit = (text: string, unit: string) => (unit === "" ? text : `${text} ${unit}`);
const plain = (value: number) => (Number.isInteger(value) ? count(value) : String(value));

/** "0 to 100 %, default 70 %". */
export function rangeOf({ minimum, maximum, unit, default: fallback }: RuleParameter): string {
  const any = minimum === null || maximum === null || maximum >= 1e15; // no range that would tell something
  const range = any ? "" : withUnit(`${plain(minimum)} to ${plain(maximum)}`, unit);
  const time = unit === "samples" ? "or a time such as 120s" : "";
  const usual = fallback === null ? "must be given" : `default ${typeof fallback === "number" ? withUnit(plain(fallback), unit) : fallback}`;
  return [range, time, usual].filter((part) => part !== "").join(", ");
}

export interface Refusal {
  readonly of: string | null; // the parameter, where it is one's fault
  readonly words: string;
}

/** What a sentence refuses, which names the parameter first: "Invalid body: threshold is 101, but must ...". */
export function refusalOf(parameters: readonly RuleParameter[], sentence: string): Refusal | null {
  for (const { name } of parameters) {
    const at = sentence.search(new RegExp(`\\b${name} is `));
    if (at >= 0) return { of: name, words: `${sentence.slice(at)}.` };
  }
  return null;
}
