import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { serviceMs } from "../api";
import { poll, type Poll } from "../poll";
import { valueOf } from "../query";
import { search } from "../router";
import { Empty, Fault, Loading } from "../states";
import { type DeliveryPage, listDeliveries, listWebhooks, type Webhook } from "./calls";
import { anyChanged } from "./drafts";
import { Hooks } from "./hooks";
import { Log } from "./log";
import { Make } from "./make";

// Webhooks: make one, test it, and see what became of each message.

const kPeriodMs = 5000;
const kSoonMs = 1000; // while a message waits or is being sent

interface Found {
  readonly hooks: readonly Webhook[];
  readonly log: DeliveryPage;
}

function ForOperators() {
  return (
    <Empty title="Alerts are for operators" whole>
      <p>
        Your token has another role: it may not see or change webhooks. Go to <a href="/jobs">the jobs</a>.
      </p>
    </Empty>
  );
}

const waits = (found: Found | null) => found?.log.items.some(({ state, due_us }) => state === "running" || (state === "ready" && due_us / 1000 < serviceMs() + 5000)) ?? false;

/** Other pages keep what was typed; a closed tab does not, so the browser asks. */
function askBefore(event: BeforeUnloadEvent): void {
  if (anyChanged()) event.preventDefault();
}

export function AlertsPage() {
  const found = useSignal<Found | null>(null);
  const opened = useSignal<Poll | null>(null);
  const [cursor, job, webhook] = (["cursor", "job", "webhook"] as const).map((key) => valueOf(search.value, key));
  useEffect(() => void (document.title = "Alerts · Stepscope"), []);
  useEffect(() => {
    window.addEventListener("beforeunload", askBefore);
    return () => window.removeEventListener("beforeunload", askBefore);
  }, []);
  useEffect(() => {
    const read = async (stop: AbortSignal) => {
      const [hooks, log] = await Promise.all([listWebhooks(stop), listDeliveries({ cursor, job, webhook }, stop)]);
      found.value = { hooks, log };
    };
    const asked = poll(read, () => (waits(found.peek()) ? kSoonMs : kPeriodMs));
    opened.value = asked;
    return () => asked.stop();
  }, [cursor, job, webhook]);
  const error = opened.value?.state.value.error ?? null;
  if (error?.status === 403) return <ForOperators />;
  const shown = found.value;
  const changed = () => opened.value?.retry();
  return (
    <>
      <div class="page-head">
        <h1>Alerts</h1>
      </div>
      <Make changed={changed} />
      {opened.value === null ? null : <Fault what="The webhooks" poll={opened.value} />}
      {shown === null && error === null ? <Loading what="the webhooks" class="loading-list" /> : null}
      {shown === null ? null : (
        <>
          <Hooks hooks={shown.hooks} log={shown.log.items} changed={changed} />
          <Log page={shown.log} hooks={shown.hooks} changed={changed} />
        </>
      )}
    </>
  );
}
