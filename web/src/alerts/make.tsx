import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { ApiError } from "../api";
import { Icon } from "../icons";
import { faultWords } from "../states";
import { kEvents, makeWebhook, type MadeWebhook } from "./calls";
import { draftOf, forget } from "./drafts";
import type { Wanted } from "./typed";
import { Wants } from "./wants";
import { namesOf, refusalOf } from "./words";

// The form that makes a webhook, what it will be sent, and the one time that its secret is on screen.

const kUsual: Wanted = { events: ["rule.issues_found", "job.failed", "job.stalled"], after_seconds: 0 };

function Made({ made, done }: { readonly made: MadeWebhook; readonly done: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const copied = useSignal(false);
  useEffect(() => field.current?.focus(), []);
  const copy = async () => {
    field.current?.select();
    // Without TLS a browser has no clipboard; the selected text can be copied by hand.
    await navigator.clipboard?.writeText(made.secret).then(() => (copied.value = true), () => {});
  };
  return (
    <section class="card token-made" aria-labelledby="made-title">
      <h2 id="made-title">The secret of this webhook</h2>
      <p>
        Copy it now, it is shown this once. The receiver checks the header <code>webhook-signature</code> with it: HMAC-SHA256 of <code>webhook-id.webhook-timestamp.body</code>.
      </p>
      <div class="token-line">
        <input ref={field} readOnly value={made.secret} aria-label="Secret" onFocus={(event) => event.currentTarget.select()} />
        <button type="button" class="primary" onClick={() => void copy()}>
          {copied.value ? "Copied" : "Copy"}
        </button>
        <button type="button" onClick={done}>
          Done
        </button>
      </div>
      <span class="unseen" role="status">{copied.value ? "Copied" : ""}</span>
    </section>
  );
}

/** The message that the first of the chosen events sends, as the receiver will get it. */
function exampleOf(event: string, rule: string): string {
  const ofRule = event.startsWith("rule.");
  const data = {
    job: "resnet-42", group: "nightly",
    ...(ofRule ? { rule, rule_configuration_name: rule } : {}),
    ...(event === "agent.silent" ? { node: "gpu-07" } : {}),
    status: ofRule ? "IssuesFound" : event === "job.failed" ? "Failed" : event === "job.completed" ? "Completed" : event === "job.stopped" ? "Stopped" : "InProgress",
    detail: "…",
    url: `${window.location.origin}/jobs/resnet-42`,
  };
  return JSON.stringify({ type: event, timestamp: "2026-11-20T20:13:34.123456Z", data }, null, 2);
}

function Form({ again, made }: { readonly again: boolean; readonly made: (webhook: MadeWebhook) => void }) {
  const field = useRef<HTMLInputElement>(null);
  // The button that was pressed is gone, and the focus would be nowhere.
  useEffect(() => (again ? field.current?.focus() : undefined), []);
  const { url, wants } = useMemo(() => draftOf("", kUsual), []);
  const busy = useSignal(false);
  const fault = useSignal("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy.value) return;
    const wanted = wants.wanted();
    fault.value = refusalOf(url.value.trim()) || (typeof wanted === "string" ? wanted : "");
    if (fault.value !== "" || typeof wanted === "string") return;
    busy.value = true;
    makeWebhook(url.value.trim(), wanted)
      .then((webhook) => (forget(""), made(webhook)), (error: ApiError) => (fault.value = faultWords(error)))
      .finally(() => (busy.value = false));
  };
  const [first] = kEvents.filter(([name]) => wants.names.value.includes(name));
  return (
    <form class="card token-form" aria-labelledby="form-title" onSubmit={submit} noValidate>
      <h2 id="form-title">New webhook</h2>
      <div class="token-fields alert-fields">
        <label>
          <span>Address</span>
          <input ref={field} name="url" type="url" maxLength={2048} autocomplete="off" spellcheck={false} placeholder="https://alerts.example.com/stepscope" value={url.value}
            onInput={(event) => ((url.value = event.currentTarget.value), (fault.value = ""))} />
        </label>
        <button class="primary" disabled={busy.value}>
          Create webhook
        </button>
      </div>
      <Wants wants={wants} typed={() => (fault.value = "")} />
      <div role="alert">
        {fault.value === "" ? null : (
          <p class="notice notice-red">
            <Icon name="cross" /> <span>The webhook was not made. {fault.value}</span>
          </p>
        )}
      </div>
      {first === undefined ? null : (
        <details class="diagnosis-more">
          <summary>What such a message looks like</summary>
          <pre tabIndex={0} aria-label="Example of a message">
            <code>{exampleOf(first[0], namesOf(wants.rules.value)[0] ?? "DataloaderBottleneck")}</code>
          </pre>
        </details>
      )}
      <p class="faint">Private addresses are refused unless the service was started with --webhook-allow for them.</p>
    </form>
  );
}

export function Make({ changed }: { readonly changed: () => void }) {
  const made = useSignal<MadeWebhook | null>(null);
  const again = useRef(false);
  const found = made.value;
  if (found !== null) return <Made made={found} done={() => ((again.current = true), (made.value = null))} />;
  return <Form again={again.current} made={(webhook) => ((made.value = webhook), changed())} />;
}
