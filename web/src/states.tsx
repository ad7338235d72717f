import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ApiError } from "./api";
import { ago, elapsed } from "./format";
import { persist, type Poll } from "./poll";
import { now } from "./settings";

// Placeholders of a part of the page that is loading, empty or out of date.

/** Grey blocks of the final size; the text appears only after 400 ms, when the wait is felt. */
export function Loading({ what, class: size }: { what: string; class: string }) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setSlow(true), 400);
    return () => window.clearTimeout(timer);
  }, []);
  return (
    <div class={`loading ${size}`} aria-busy="true">
      <span role="status">{slow ? `Loading ${what} …` : ""}</span>
    </div>
  );
}

export function faultWords(error: ApiError): string {
  const parts = [error.status === null ? null : `HTTP ${error.status}`];
  if (error.requestId !== null) parts.push(`request ${error.requestId}`);
  const notes = parts.filter((part) => part !== null).join(", ");
  return `${error.sentence.replace(/\.$/, "")}${notes === "" ? "" : ` (${notes})`}.`;
}

/** A notice of what could not be loaded, why, and a button to retry. With data on screen it says how old they are. */
export function Fault({ what, poll }: { readonly what: string; readonly poll: Poll }) {
  const { error, okAt, retryAt } = poll.state.value;
  if (error === null) return null;
  const wait = retryAt === null ? 0 : Math.ceil((retryAt - now.value) / 1000);
  return (
    <div class="notice notice-red">
      <p role="alert">
        <strong>{okAt === null ? `${what} could not be loaded.` : `${what}: not up to date.`}</strong>{" "}
        {faultWords(error)}
      </p>
      <p class="notice-way">
        {okAt === null ? null : <span>Last answer {ago((now.value - okAt) / 1000)}.</span>}
        {retryAt === null ? null : <span>{wait > 0 ? `Retrying in ${elapsed(wait)}` : "Retrying …"}</span>}
        <button type="button" onClick={() => poll.retry()}>
          Retry now
        </button>
      </p>
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly whole?: boolean; // it is the whole page, not a part of one
  readonly children?: ComponentChildren;
}

export function Empty({ title, whole, children }: EmptyProps) {
  return (
    <div class="empty">
      {whole ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

const fault = signal<string | null>(null);

/** Shows an error of the page itself; a call that was aborted on purpose is no error. */
export function reportFault(reason: unknown): void {
  if (reason instanceof DOMException && reason.name === "AbortError") return;
  const text = reason instanceof Error ? `${reason.message}\n${reason.stack ?? ""}` : String(reason);
  fault.value = text;
}

const kNotLoaded = "A part of this page could not be loaded yet. It is asked for again.";

/** Loads a chunk of the page. After a fault it is asked for until it is there; meanwhile the page says that a part of it is missing. */
export function loadChunk<T>(load: () => Promise<T>, use: (found: T) => void, failed = () => {}): void {
  const done = (found: T) => {
    if (fault.value === kNotLoaded) fault.value = null;
    use(found);
  };
  persist(load, done, () => {
    reportFault(kNotLoaded);
    failed();
  });
}

export function watchFaults(): void {
  window.addEventListener("error", (event) => {
    if (!/ResizeObserver loop/.test(event.message)) reportFault(event.error ?? event.message);
  });
  window.addEventListener("unhandledrejection", (event) => reportFault(event.reason));
}

/** An error of the page itself: never silent, never a blank page. */
export function FaultBar() {
  if (fault.value === null) return null;
  const text = fault.value;
  return (
    <div class="notice notice-red fault-bar" role="alert">
      <p>
        <strong>Something in this page failed.</strong> {text.split("\n")[0]}
      </p>
      <p class="notice-way">
        <button type="button" onClick={() => void navigator.clipboard?.writeText(text)}>
          Copy details
        </button>
        <button type="button" onClick={() => window.location.reload()}>
          Reload
        </button>
        <button type="button" onClick={() => (fault.value = null)}>
          Dismiss
        </button>
      </p>
    </div>
  );
}
