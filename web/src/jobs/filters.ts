import type { JobItem } from "../model";
import { type Changes, valueOf, withKeys } from "../query";

// The filters of the list: as keys of the page's link, and as parameters of the call.

export const kStatuses = ["InProgress", "Completed", "Failed", "Stopping", "Stopped"] as const;
export const kAnyRule = "any";
/** Choices of the filter for issues that ask for a job's verdict, with their words. */
export const kVerdicts: Readonly<Record<string, string>> = { none: "no issues", unknown: "not judged" };

export interface Span {
  readonly value: string;
  readonly word: string;
}

export const kSpans: readonly Span[] = [
  { value: "", word: "any time" },
  { value: "now-1h", word: "last hour" },
  { value: "now-24h", word: "last 24 hours" },
  { value: "today", word: "today" },
  { value: "yesterday", word: "yesterday" },
  { value: "now-7d", word: "last 7 days" },
  { value: "now-30d", word: "last 30 days" },
];

const kUnitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The begin of today in the reader's own time zone, or of the day `back` days before. */
function midnight(nowMs: number, back: number): string {
  const day = new Date(nowMs);
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - back);
  return day.toISOString();
}

/** "now-7d", "today", "yesterday", a day or an RFC 3339 time, as the service wants it; null when it is none of these. */
export function asTime(text: string, nowMs: number): string | null {
  if (text === "today" || text === "yesterday") return midnight(nowMs, text === "today" ? 0 : 1);
  const back = /^now-(\d{1,5})([mhd])$/.exec(text);
  if (back) return new Date(nowMs - Number(back[1]) * (kUnitMs[back[2] ?? "m"] ?? 0)).toISOString();
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return asTime(`${text}T00:00:00Z`, nowMs);
  const at = Date.parse(text);
  return /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(at) ? new Date(at).toISOString() : null;
}

/** The last day of a range counts as a whole. */
export function asEnd(text: string, nowMs: number): string | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return asTime(text, nowMs);
  const start = asTime(text, nowMs);
  return start === null ? null : new Date(Date.parse(start) + 86_400_000).toISOString();
}

/** The parameters of the call that lists the jobs of this link. */
export function asParameters(search: string, nowMs: number): Record<string, string | null> {
  const issue = valueOf(search, "issue");
  return {
    name_contains: valueOf(search, "q"),
    group: valueOf(search, "group"),
    status: valueOf(search, "status"),
    rule: issue === kAnyRule || issue in kVerdicts ? null : issue,
    rule_status: issue === "" || issue in kVerdicts ? null : "IssuesFound,Error",
    verdict: issue in kVerdicts ? issue : null,
    created_after: asTime(valueOf(search, "after"), nowMs),
    created_before: valueOf(search, "after") === "yesterday" ? asTime("today", nowMs) : asEnd(valueOf(search, "before"), nowMs),
    sort: valueOf(search, "sort"),
    cursor: valueOf(search, "cursor"),
  };
}

/** Whether the job still belongs to the list of this link, judged by what may change of a job. The names of `rules_in_trouble` may be other than the rule's. */
export function matches(search: string, job: Pick<JobItem, "status" | "verdict" | "rules_in_trouble">): boolean {
  const [status, issue] = [valueOf(search, "status"), valueOf(search, "issue")];
  if (status !== "" && !status.split(",").includes(job.status)) return false;
  if (issue in kVerdicts) return job.verdict === issue;
  return issue === "" || job.rules_in_trouble.length > 0;
}

export const kCleared: Changes = {
  q: null, group: null, status: null, issue: null, after: null, before: null, cursor: null,
};

export function isFiltered(search: string): boolean {
  return (["q", "group", "status", "issue", "after", "before"] as const).some((key) => valueOf(search, key) !== "");
}

/** The filters in words, for "No job matches …". */
export function inWords(search: string): string {
  const value = (key: "q" | "group" | "status" | "issue" | "after" | "before") => valueOf(search, key);
  const parts: string[] = [];
  if (value("q")) parts.push(`a name with “${value("q")}”`);
  if (value("group")) parts.push(`the group “${value("group")}”`);
  if (value("status")) parts.push(`status ${value("status").replaceAll(",", " or ")}`);
  if (value("issue") === kAnyRule) parts.push("a rule in trouble");
  else if (kVerdicts[value("issue")]) parts.push(kVerdicts[value("issue")] ?? "");
  else if (value("issue")) parts.push(`${value("issue")} in trouble`);
  const span = kSpans.find(({ value: known }) => known !== "" && known === value("after"));
  if (value("after")) parts.push(span ? `created ${/^(today|yesterday)$/.test(span.value) ? "" : "in the "}${span.word}` : `created from ${value("after")}`);
  if (value("before")) parts.push(`created until ${value("before")}`);
  return parts.join(", ");
}

/** The part of a link that decides which jobs are listed. */
export function listKey(search: string): string {
  const keys = ["q", "group", "status", "issue", "after", "before", "sort", "cursor"] as const;
  return withKeys("", Object.fromEntries(keys.map((key) => [key, valueOf(search, key)])));
}
