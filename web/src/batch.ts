// Calls that are made at one moment travel in one request: a page wants its job, steps and charts at
// once, and each request by itself costs a browser milliseconds. openapi.yaml describes POST /batch.

/** What the service answered to one call. */
export interface Answer {
  readonly status: number;
  readonly body: unknown; // undefined where it is not JSON
  readonly requestId: string | null;
  readonly waitMs: number; // the pause that the service wants before the next try
}

export interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly stop?: AbortSignal;
}
export type Send = (url: string, call: Sent) => Promise<Answer>;

interface Waiting {
  readonly url: string;
  readonly stop: AbortSignal | undefined;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (fault: unknown) => void;
}

/** One of the answers in that of a batch. */
interface Part {
  readonly status: number;
  readonly body: unknown;
  readonly retry_after?: number;
}

const kPrefix = "/api/v1";
const kMostCalls = 8;
const kPatienceMs = 250;
const kTooMuch = 413; // what the service had no room for in the batch

let waiting: Waiting[] = [];
let timer = 0;

/** Reads `url` with what else is asked for now. A patient call waits a moment for company. */
export function readTogether(url: string, send: Send, stop: AbortSignal | undefined, patient: boolean): Promise<Answer> {
  const found = new Promise<Answer>((resolve, reject) => {
    stop?.throwIfAborted();
    waiting.push({ url, stop, resolve, reject });
    stop?.addEventListener("abort", () => reject(stop.reason));
  });
  if (!patient || waiting.length === 1) {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => flush(send), patient ? kPatienceMs : 0);
  }
  return found;
}

function flush(send: Send): void {
  const calls = waiting.filter(({ stop }) => !stop?.aborted);
  waiting = [];
  for (let at = 0; at < calls.length; at += kMostCalls) void sendAll(calls.slice(at, at + kMostCalls), send);
}

/** Sends one as it is, and several in a batch. */
async function sendAll(calls: readonly Waiting[], send: Send): Promise<void> {
  const alone = ({ url, stop, resolve, reject }: Waiting) => void send(url, { stop }).then(resolve, reject);
  if (calls.length === 1) return calls.forEach(alone);
  try {
    const answer = await send(`${kPrefix}/batch`, { method: "POST", body: { get: calls.map(({ url }) => url.slice(kPrefix.length)) } });
    const { answers } = (answer.body ?? {}) as { answers?: readonly Part[] };
    calls.forEach((call, at) => {
      const part = answers?.[at];
      if (part?.status === kTooMuch) alone(call);
      else call.resolve(part ? { ...answer, status: part.status, body: part.body, waitMs: (part.retry_after ?? 0) * 1000 } : answer); // one that is refused as a whole
    });
  } catch (fault) {
    for (const { reject } of calls) reject(fault);
  }
}
