import { signal } from "@preact/signals";
import { type Answer, readTogether, type Send, type Sent } from "./batch";
import type { Job, JobPage, JudgedRule, Metrics, Steps } from "./model";
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

/** The present by the service's clock, in ms since the epoch. */
export const serviceMs = (): number => Date.now() + clockAheadMs.peek();

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

function problem({ status, body, requestId, waitMs }: Answer): ApiError {
  if (typeof body !== "object" || body === null) return new ApiError("The service answered without saying why", status, requestId, waitMs);
  const { title, detail, request_id: id } = body as { title?: unknown; detail?: unknown; request_id?: unknown };
  const words = [title, detail].filter((text) => typeof text === "string" && text !== "");
  return new ApiError(words.join(": ") || "The service refused the request", status, typeof id === "string" ? id : requestId, waitMs);
}

function noteClock(reply: Response): void {
  const at = Date.parse(reply.headers.get("date") ?? "");
  if (Number.isNaN(at)) return;
  const ahead = at - Date.now();
  clockAheadMs.value = Math.abs(ahead) > 3000 ? ahead : 0;
}

function bodyOf({ status, body, requestId }: Answer, what: string): unknown {
  if (status === 204) return null;
  const part: unknown = typeof body === "object" && body !== null ? Reflect.get(body, what) : undefined;
  if (Array.isArray(part) || typeof part === "string") return body;
  throw new ApiError(body === undefined ? "The answer is not JSON" : `The answer has no “${what}”`, status, requestId);
}

interface Call {
  readonly method?: "POST" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly stop?: AbortSignal;
  readonly also?: number; // a status beside success that has a good answer
  readonly patient?: boolean; // may wait a moment for another call to travel with
}

/** Answers that were asked for before the program that needs them was loaded, by their address; each is given out once. */
const begun = new Map<string, Promise<unknown>>();

/** Calls the service at once; the next `ask` for this address gets the answer. */
export function askAhead(url: string, what: string): void {
  const answer = ask(url, what);
  const forget = () => void (begun.get(url) === answer && begun.delete(url));
  answer.catch(forget);
  setTimeout(forget, kDeadlineMs); // nobody came for it, and it would be out of date
  begun.set(url, answer);
}

/** One request. Every fault but that of a caller who stopped it becomes an ApiError. */
async function exchange(url: string, { method, body, stop }: Sent, accept = "application/json") {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), kDeadlineMs);
  const abort = () => deadline.abort();
  stop?.addEventListener("abort", abort);
  try {
    const headers: HeadersInit = { accept };
    if (body !== undefined) headers["content-type"] = "application/json";
    const text = body === undefined ? null : JSON.stringify(body);
    const reply = await fetch(url, { method, headers, body: text, signal: deadline.signal, cache: "no-cache" });
    noteClock(reply);
    return { reply, text: await reply.text() };
  } catch (fault) {
    if (stop?.aborted) throw fault;
    throw new ApiError(deadline.signal.aborted ? "No answer within 15 s" : "The service cannot be reached", null, null);
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener("abort", abort);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function answerOf({ status, headers }: Response, text: string): Answer {
  const waitMs = Number(headers.get("retry-after") ?? 0) * 1000 || 0;
  return { status, body: jsonOf(text), requestId: headers.get("x-request-id"), waitMs };
}

const send: Send = async (url, call) => {
  const { reply, text } = await exchange(url, call);
  return answerOf(reply, text);
};

function refusal(answer: Answer, stop: AbortSignal | undefined): ApiError {
  if (answer.status === 401 && !stop?.aborted) signedOut.value = true;
  return problem(answer);
}

/** A page of a list as CSV, and the cursor of the next page; null at the end. */
export async function readCsv(url: string, stop: AbortSignal): Promise<{ readonly text: string; readonly next: string | null }> {
  const { reply, text } = await exchange(url, { stop }, "text/csv");
  if (!reply.ok) throw refusal(answerOf(reply, text), stop);
  return { text, next: reply.headers.get("stepscope-next") };
}

/** Calls the service; `what` names the list or the text that a good answer must have. */
export async function ask<T>(url: string, what: string, { method, body, stop, also, patient = false }: Call = {}): Promise<T> {
  const ahead = method === undefined ? begun.get(url) : undefined;
  if (ahead !== undefined) {
    begun.delete(url);
    const found = (await ahead) as T;
    stop?.throwIfAborted();
    return found;
  }
  const joins = method === undefined && url.startsWith("/api/");
  const answer = await (joins ? readTogether(url, send, stop, patient) : send(url, { method, body, stop }));
  if ((answer.status >= 200 && answer.status < 300) || answer.status === also) return bodyOf(answer, what) as T;
  throw refusal(answer, stop);
}

export const jobPath = (name: string) => `/jobs/${encodeURIComponent(name)}`;

export function listJobs(parameters: Parameters, stop: AbortSignal): Promise<JobPage> {
  return ask(address("/jobs", parameters), "items", { stop });
}

const kDescribed = "profiler_rule_evaluation_statuses";

export function describeJob(name: string, stop: AbortSignal): Promise<Job> {
  return ask(address(jobPath(name)), kDescribed, { stop });
}

/** One bin of every metric: which there are. */
export const kEveryMetric = { fold: "metric", points: 1 } as const;

interface Ahead {
  readonly charts: boolean; // their thresholds are those of the job's rules
  readonly everyMetric: boolean;
  readonly steps: Parameters | null; // which; null: none
}

/** Asks for what a part of a job's page needs. */
export function askAheadForJob(name: string, { charts, everyMetric, steps }: Ahead): void {
  const path = jobPath(name);
  askAhead(address(path), kDescribed);
  if (charts) askAhead(address(`${path}/rules`), "items");
  if (steps !== null) askAhead(address(`${path}/steps`, steps), "ranks");
  if (everyMetric) askAhead(address(`${path}/metrics`, { ...kEveryMetric, times: "runs" }), "series");
}

export async function readMetrics(name: string, parameters: Parameters, stop: AbortSignal): Promise<Metrics> {
  const url = address(`${jobPath(name)}/metrics`, { ...parameters, times: "runs" });
  return withTimes(await ask<SentMetrics>(url, "series", { stop }));
}

export function readSteps(name: string, parameters: Parameters, stop: AbortSignal): Promise<Steps> {
  return ask(address(`${jobPath(name)}/steps`, parameters), "ranks", { stop });
}

export async function listJudged(name: string, stop: AbortSignal): Promise<readonly JudgedRule[]> {
  const url = address(`${jobPath(name)}/rules`);
  return (await ask<{ items: readonly JudgedRule[] }>(url, "items", { stop })).items;
}
