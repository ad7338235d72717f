import { signal } from "@preact/signals";
import type { Job, JobPage, JudgedRule, Metrics, RuleType, StepRows, Steps } from "./model";
import { type SentMetrics, withTimes } from "./runs";

// The only place that talks to the service. Every fault becomes one ApiError that says what happened
// in a sentence; whoever asked shows it and offers a retry.

const kDeadlineMs = 15_000;

export class ApiError extends Error {
  constructor(
    readonly sentence: string,
    readonly status: number | null,
    readonly requestId: string | null,
    readonly waitMs = 0, // the pause that the service wants before the next try
  ) {
    super(sentence);
  }
}

/** Milliseconds by which the service's clock is ahead of this browser's; 0 up to 3 s, which do not matter. */
export const clockAheadMs = signal(0);

/** The service answered that it does not know who asks. */
export const signedOut = signal(false);

type Parameters = Readonly<Record<string, string | number | null | undefined>>;

export function address(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return `/api/v1${path}${text === "" ? "" : `?${text}`}`;
}

async function problem(reply: Response): Promise<ApiError> {
  const id = reply.headers.get("x-request-id");
  const waitMs = Number(reply.headers.get("retry-after") ?? 0) * 1000 || 0;
  try {
    const body = (await reply.json()) as { title?: unknown; detail?: unknown; request_id?: unknown };
    const words = [body.title, body.detail].filter((text) => typeof text === "string" && text !== "");
    const named = typeof body.request_id === "string" ? body.request_id : id;
    return new ApiError(words.join(": ") || "The service refused the request", reply.status, named, waitMs);
  } catch {
    return new ApiError("The service answered without saying why", reply.status, id, waitMs);
  }
}

function noteClock(reply: Response): void {
  const at = Date.parse(reply.headers.get("date") ?? "");
  if (Number.isNaN(at)) return;
  const ahead = at - Date.now();
  clockAheadMs.value = Math.abs(ahead) > 3000 ? ahead : 0;
}

async function bodyOf(reply: Response, what: string): Promise<unknown> {
  if (reply.status === 204) return null;
  const body: unknown = await reply.json();
  const part: unknown = typeof body === "object" && body !== null ? Reflect.get(body, what) : undefined;
  if (Array.isArray(part) || typeof part === "string") return body;
  throw new ApiError(`The answer has no “${what}”`, reply.status, reply.headers.get("x-request-id"));
}

interface Call {
  readonly method?: "POST" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly stop?: AbortSignal;
  readonly also?: number; // a status beside success that has a good answer
}

/** Whether the service can do its work; the checks are left out for those who may not see them. */
export interface Readiness {
  readonly status: "ready" | "not-ready";
  readonly version?: string;
  readonly checks?: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
}

/** Answers that were asked for before the program that needs them was loaded, by their address; each is given out once. */
const begun = new Map<string, Promise<unknown>>();

/** Calls the service at once; the next `ask` for this address gets the answer. */
function askAhead(url: string, what: string): void {
  const answer = ask(url, what);
  const forget = () => void (begun.get(url) === answer && begun.delete(url));
  answer.catch(forget);
  setTimeout(forget, kDeadlineMs); // nobody came for it, and it would be out of date
  begun.set(url, answer);
}

/** Calls the service; `what` names the list or the text that a good answer must have. */
export async function ask<T>(url: string, what: string, { method, body, stop, also }: Call = {}): Promise<T> {
  const ahead = method === undefined ? begun.get(url) : undefined;
  if (ahead !== undefined) {
    begun.delete(url);
    const found = (await ahead) as T;
    stop?.throwIfAborted();
    return found;
  }
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), kDeadlineMs);
  const abort = () => deadline.abort();
  stop?.addEventListener("abort", abort);
  try {
    const headers: HeadersInit = { accept: "application/json" };
    if (body !== undefined) headers["content-type"] = "application/json";
    const text = body === undefined ? null : JSON.stringify(body);
    const reply = await fetch(url, { method, headers, body: text, signal: deadline.signal, cache: "no-cache" });
    noteClock(reply);
    if (reply.ok || reply.status === also) return (await bodyOf(reply, what)) as T;
    if (reply.status === 401 && !stop?.aborted) signedOut.value = true;
    throw await problem(reply);
  } catch (fault) {
    if (fault instanceof ApiError || stop?.aborted) throw fault;
    if (deadline.signal.aborted) throw new ApiError("No answer within 15 s", null, null);
    if (fault instanceof SyntaxError) throw new ApiError("The answer is not JSON", null, null);
    throw new ApiError("The service cannot be reached", null, null);
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener("abort", abort);
  }
}

/** A service that is not ready answers 503, with the reasons. */
export function readReadiness(stop: AbortSignal): Promise<Readiness> {
  return ask("/readyz", "status", { stop, also: 503 });
}

const jobPath = (name: string) => `/jobs/${encodeURIComponent(name)}`;

export function listJobs(parameters: Parameters, stop: AbortSignal): Promise<JobPage> {
  return ask(address("/jobs", parameters), "items", { stop });
}

const kDescribed = "profiler_rule_evaluation_statuses";

export function describeJob(name: string, stop: AbortSignal): Promise<Job> {
  return ask(address(jobPath(name)), kDescribed, { stop });
}

/** Asks for what every part of a job's page needs, and for steps where `steps` says which. */
export function askAheadForJob(name: string, steps: Parameters | null): void {
  askAhead(address(jobPath(name)), kDescribed);
  if (steps !== null) askAhead(address(`${jobPath(name)}/steps`, steps), "ranks");
}

export function deleteJob(name: string): Promise<null> {
  return ask(address(jobPath(name)), "", { method: "DELETE" });
}

export async function readMetrics(name: string, parameters: Parameters, stop: AbortSignal): Promise<Metrics> {
  const url = address(`${jobPath(name)}/metrics`, { ...parameters, times: "runs" });
  return withTimes(await ask<SentMetrics>(url, "series", { stop }));
}

export function readSteps(name: string, parameters: Parameters, stop: AbortSignal): Promise<Steps> {
  return ask(address(`${jobPath(name)}/steps`, parameters), "ranks", { stop });
}

/** The steps of one rank, one by one. */
export function readStepRows(name: string, parameters: Parameters, stop: AbortSignal): Promise<StepRows> {
  return ask(address(`${jobPath(name)}/steps`, { ...parameters, format: "rows" }), "items", { stop });
}

export async function listJudged(name: string, stop: AbortSignal): Promise<readonly JudgedRule[]> {
  const url = address(`${jobPath(name)}/rules`);
  return (await ask<{ items: readonly JudgedRule[] }>(url, "items", { stop })).items;
}

export async function listRules(stop: AbortSignal): Promise<readonly RuleType[]> {
  return (await ask<{ items: readonly RuleType[] }>(address("/rules"), "items", { stop })).items;
}
