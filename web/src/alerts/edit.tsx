import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { ApiError } from "../api";
import { faultWords } from "../states";
import { changeWebhook, type Webhook } from "./calls";
import { draftOf, forget, isChanged } from "./drafts";
import type { Wanted } from "./typed";
import { Wants } from "./wants";
import { ofOtherRules } from "./words";

// The dialog that changes what a webhook is told.

interface EditProps {
  readonly hook: Webhook;
  readonly close: () => void;
  readonly changed: () => void;
}

/** What the fields say now and did not say when they were opened: the webhook keeps what no field can show, such as "all events". */
function changeOf(began: Wanted | string, now: Wanted): Partial<Wanted> {
  const same = (key: keyof Wanted) => typeof began !== "string" && JSON.stringify(began[key]) === JSON.stringify(now[key]);
  return { ...(same("events") ? {} : { events: now.events }), ...(same("after_seconds") ? {} : { after_seconds: now.after_seconds }) };
}

export function Edit({ hook, close, changed }: EditProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const draft = useMemo(() => draftOf(hook.id, hook), []);
  const { wants, began } = draft;
  const kept = useMemo(() => isChanged(draft), []);
  const busy = useSignal(false);
  const fault = useSignal("");
  const asks = useSignal(false);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const discard = () => {
    forget(hook.id);
    dialog.current?.close();
  };
  const question = useRef<HTMLButtonElement>(null);
  useEffect(() => void (asks.value && question.current?.focus()), [asks.value]);
  const keep = () => {
    asks.value = false;
    dialog.current?.querySelector("input")?.focus(); // the button that had the focus is gone
  };
  const leave = () => (isChanged(draft) ? void (asks.value = true) : discard());
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const wanted = wants.wanted();
    if (busy.value) return;
    if (typeof wanted === "string") return void (fault.value = wanted);
    const change = changeOf(began, wanted);
    busy.value = true;
    try {
      if (Object.keys(change).length > 0) await changeWebhook(hook.id, change);
      changed();
      discard();
    } catch (error) {
      fault.value = error instanceof ApiError ? faultWords(error) : String(error);
    } finally {
      busy.value = false;
    }
  };
  return (
    <dialog ref={dialog} class="question alert-edit" aria-labelledby="edit-title" onCancel={(event) => (event.preventDefault(), leave())} onClose={close}>
      <form onSubmit={(event) => void save(event)} noValidate>
        <h2 id="edit-title">What this webhook is told</h2>
        <p class="alert-url">{hook.url}</p>
        {ofOtherRules(hook.events) ? <p>Its events name different rules. Whoever changes events or rules here gives all of them the rules below.</p> : null}
        {kept ? <p class="notice notice-amber">These are the changes that you began; they are not saved.</p> : null}
        <Wants wants={wants} typed={() => (fault.value = "")} />
        <p class="faint">Its address and its secret stay. For another receiver make another webhook.</p>
        <div role="alert">{fault.value === "" ? null : <p class="notice notice-red">Nothing was changed. {fault.value}</p>}</div>
        {asks.value ? (
          <p class="dialog-ways" role="alert">
            <span>Your changes are not saved.</span>
            <button type="button" ref={question} onClick={keep}>
              Keep editing
            </button>
            <button type="button" class="danger" onClick={discard}>
              Discard
            </button>
          </p>
        ) : (
          <p class="dialog-ways">
            <button type="button" onClick={leave}>
              Cancel
            </button>
            <button class="primary" disabled={busy.value}>
              Save
            </button>
          </p>
        )}
      </form>
    </dialog>
  );
}
