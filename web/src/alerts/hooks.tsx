import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ApiError } from "../api";
import { dateTime, duration } from "../format";
import { zoneOf } from "../settings";
import { faultWords } from "../states";
import { kGreyStyle, Status } from "../status";
import { changeWebhook, deleteWebhook, type Delivery, testWebhook, type Webhook } from "./calls";
import { forget } from "./drafts";
import { Edit } from "./edit";
import { attemptWords, eventWords, styleOf } from "./words";

// The webhooks, each with its last message, a test, and the ways to change, switch off and delete it.

interface HooksProps {
  readonly hooks: readonly Webhook[];
  readonly log: readonly Delivery[];
  readonly changed: () => void;
}

function Delete({ hook, close, changed }: { readonly hook: Webhook; readonly close: () => void; readonly changed: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const fault = useSignal("");
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const remove = async () => {
    try {
      await deleteWebhook(hook.id);
      forget(hook.id);
      changed();
      dialog.current?.close();
    } catch (error) {
      fault.value = error instanceof ApiError ? faultWords(error) : String(error);
    }
  };
  return (
    <dialog ref={dialog} class="question" aria-labelledby="delete-title" onClose={close}>
      <h2 id="delete-title">Delete this webhook?</h2>
      <p class="alert-url">{hook.url}</p>
      <p>Messages that wait for it are dropped; the log of what was sent stays.</p>
      <div role="alert">{fault.value === "" ? null : <p class="notice notice-red">{fault.value}</p>}</div>
      <p class="dialog-ways">
        <button type="button" autofocus onClick={() => dialog.current?.close()}>
          Keep it
        </button>
        <button type="button" class="danger" onClick={() => void remove()}>
          Delete
        </button>
      </p>
    </dialog>
  );
}

function Last({ found }: { readonly found: Delivery | undefined }) {
  if (found === undefined) return <span class="faint">no message in the log below</span>;
  const style = styleOf(found);
  const attempt = found.attempts[found.attempts.length - 1];
  return <Status style={style} word={`${style.word}${attempt ? `, ${attemptWords(attempt)}` : ""}`} />;
}

function Hook({ hook, last, changed }: { readonly hook: Webhook; readonly last: Delivery | undefined; readonly changed: () => void }) {
  const open = useSignal<"" | "edit" | "delete">("");
  const close = () => (open.value = "");
  const said = useSignal("");
  const test = () =>
    testWebhook(hook.id).then(
      () => ((said.value = "The test message is on its way; the log shows what became of it."), changed()),
      (error: ApiError) => (said.value = `It could not be sent. ${faultWords(error)}`),
    );
  const turn = () =>
    changeWebhook(hook.id, { enabled: !hook.enabled }).then(
      (now) => ((said.value = now.enabled ? "It is told of what happens from now on." : "It is sent nothing until it is switched on again."), changed()),
      (error: ApiError) => (said.value = `It stayed as it was. ${faultWords(error)}`),
    );
  return (
    <li class="alert-hook">
      <div>
        <h3 class="alert-url">{hook.url}</h3>
        <p class="faint">
          {eventWords(hook.events)}
          {hook.after_seconds > 0 ? ` · findings that last ${duration(hook.after_seconds)}` : ""} · since {dateTime(hook.created_us, zoneOf("utc"))}
        </p>
        <p>{hook.enabled ? <Last found={last} /> : <Status style={kGreyStyle} word="Switched off" more={hook.note || null} />}</p>
        <p role="status">{said.value}</p>
      </div>
      <span class="alert-ways">
        <button type="button" disabled={!hook.enabled} onClick={() => void test()}>
          Send test<span class="unseen"> to {hook.url}</span>
        </button>
        <button type="button" onClick={() => (open.value = "edit")}>
          Edit<span class="unseen"> {hook.url}</span>
        </button>
        <button type="button" onClick={() => void turn()}>
          Switch {hook.enabled ? "off" : "on"}<span class="unseen"> {hook.url}</span>
        </button>
        <button type="button" class="danger" onClick={() => (open.value = "delete")}>
          Delete<span class="unseen"> {hook.url}</span>
        </button>
      </span>
      {open.value === "edit" ? <Edit hook={hook} changed={changed} close={close} /> : null}
      {open.value === "delete" ? <Delete hook={hook} changed={changed} close={close} /> : null}
    </li>
  );
}

export function Hooks({ hooks, log, changed }: HooksProps) {
  return (
    <section class="card facts" aria-labelledby="hooks-title">
      <h2 id="hooks-title">Webhooks</h2>
      {hooks.length === 0 ? <p class="faint">None yet. With the form above a first one takes a minute; “Send test” then shows whether it works.</p> : null}
      <ul>
        {hooks.map((hook) => (
          <Hook key={hook.id} hook={hook} last={log.find(({ webhook }) => webhook === hook.id)} changed={changed} />
        ))}
      </ul>
    </section>
  );
}
