import { signal } from "@preact/signals";
import type { Job, JobPage, JudgedRule, Metrics, RuleType, Steps } from "./model";

// The only place that talks to the service. Every fault becomes one ApiError that says what happened
// in a sentence; whoever asked shows it and offers a retry.

const kDeadlineMs = 15_000;

export class ApiError extends Error {
  constructor(
    readonly sentence: string,
    readonly status: number | null,
    readonly requestId: string | null,
  ) {
    super(sentence);
  }
}

/** How far the service's clock is ahead of this browser's, when it matters (over 3 s). */
export const clockAheadMs = signal(0);

type Parameters = Readonly<Record<string, string | number | null | undefined>>;

function address(path: string, parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return `/api/v1${path}${text === "" ? "" : `?${text}`}`;
}

async function problem(reply: Response): Promise<ApiError> {
  const id = reply.headers.get("x-request-id");
  try {
    const body = (await reply.json()) as { title?: unknown; detail?: unknown; request_id?: unknown };
    const words = [body.title, body.detail].filter((text) => typeof text === "string" && text !== "");
    const named = typeof body.request_id === "string" ? body.request_id : id;
    return new ApiError(words.join(": ") || "The service refused the request", reply.status, named);
  } catch {
    return new ApiError("The service answered without saying why", reply.status, id);
  }
}

function noteClock(reply: Response): void {
  const at = Date.parse(reply.headers.get("date") ?? "");
  if (Number.isNaN(at)) return;
  const ahead = at - Date.now();
  clockAheadMs.value = Math.abs(ahead) > 3000 ? ahead : 0;
}

async function get<T>(url: string, list: string, signalFromCaller: AbortSignal): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), kDeadlineMs);
  const stop = () => deadline.abort();
  signalFromCaller.addEventListener("abort", stop);
  try {
    const headers = { accept: "application/json" };
    const reply = await fetch(url, { headers, signal: deadline.signal, cache: "no-cache" });
    noteClock(reply);
    if (!reply.ok) throw await problem(reply);
    const body: unknown = await reply.json();
    const found = typeof body === "object" && body !== null && Array.isArray(Reflect.get(body, list));
    if (found) return body as T;
    throw new ApiError(`The answer has no list “${list}”`, reply.status, reply.headers.get("x-request-id"));
  } catch (fault) {
    if (fault instanceof ApiError || signalFromCaller.aborted) throw fault;
    if (deadline.signal.aborted) throw new ApiError("No answer within 15 s", null, null);
    if (fault instanceof SyntaxError) throw new ApiError("The answer is not JSON", null, null);
    throw new ApiError("The service cannot be reached", null, null);
  } finally {
    clearTimeout(timer);
    signalFromCaller.removeEventListener("abort", stop);
  }
}

const jobPath = (name: string) => `/jobs/${encodeURIComponent(name)}`;

export function listJobs(parameters: Parameters, stop: AbortSignal): Promise<JobPage> {
  return get(address("/jobs", parameters), "items", stop);
}

export function describeJob(name: string, stop: AbortSignal): Promise<Job> {
  return get(address(jobPath(name), {}), "profiler_rule_evaluation_statuses", stop);
}

export function readMetrics(name: string, parameters: Parameters, stop: AbortSignal): Promise<Metrics> {
  return get(address(`${jobPath(name)}/metrics`, parameters), "series", stop);
}

export function readSteps(name: string, parameters: Parameters, stop: AbortSignal): Promise<Steps> {
  return get(address(`${jobPath(name)}/steps`, parameters), "ranks", stop);
}

export async function listJudged(name: string, stop: AbortSignal): Promise<readonly JudgedRule[]> {
  const url = address(`${jobPath(name)}/rules`, {});
  return (await get<{ items: readonly JudgedRule[] }>(url, "items", stop)).items;
}

export async function listRules(stop: AbortSignal): Promise<readonly RuleType[]> {
  const answer = await get<{ items: readonly RuleType[] }>(address("/rules", {}), "items", stop);
  return answer.items;
}
