import { count } from "../../format";
import type { RuleParameter } from "../../model";
import type { Given } from "./tune_calls";

// The parameters of a rule as texts that people edit. The service decides which values are valid.

export type Texts = Readonly<Record<string, string>>;

export const textOf = (value: number | string | null | undefined) => (value === null || value === undefined ? "" : String(value));

/** Whether the parameter is a text in any case; a number of samples may also be given as a time. */
const isText = (parameter: RuleParameter) => parameter.minimum === null;

/** The parameters to send: a number where the text is one, and null, which is the default, for an empty field. */
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
  readonly of: string | null; // the refused parameter, if it is about one
  readonly words: string;
}

/** Finds the parameter that an error sentence refuses: "Invalid body: threshold is 101, but must ...". */
export function refusalOf(parameters: readonly RuleParameter[], sentence: string): Refusal | null {
  for (const { name } of parameters) {
    const at = sentence.search(new RegExp(`\\b${name} is `));
    if (at >= 0) return { of: name, words: `${sentence.slice(at)}.` };
  }
  return null;
}
