import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ApiError } from "../api";
import { faultWords } from "../states";
import { changeWebhook, type Webhook } from "./calls";
import { useWants, Wants } from "./wants";
import { ofOtherRules } from "./words";

// The dialog that changes what a webhook is told.

interface EditProps {
  readonly hook: Webhook;
  readonly close: () => void;
  readonly changed: () => void;
}

export function Edit({ hook, close, changed }: EditProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const wants = useWants(hook);
  const touched = useSignal(false); // who saves without a change keeps what no field can show
  const busy = useSignal(false);
  const fault = useSignal("");
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const wanted = wants.wanted();
    if (busy.value) return;
    if (typeof wanted === "string") return void (fault.value = wanted);
    busy.value = true;
    try {
      if (touched.value) await changeWebhook(hook.id, wanted);
      changed();
      dialog.current?.close();
    } catch (error) {
      fault.value = error instanceof ApiError ? faultWords(error) : String(error);
    } finally {
      busy.value = false;
    }
  };
  return (
    <dialog ref={dialog} class="question alert-edit" aria-labelledby="edit-title" onClose={close}>
      <form onSubmit={(event) => void save(event)} noValidate>
        <h2 id="edit-title">What this webhook is told</h2>
        <p class="alert-url">{hook.url}</p>
        {ofOtherRules(hook.events) ? <p>Its events name different rules. A change here gives all of them the rules below.</p> : null}
        <Wants wants={wants} typed={() => ((touched.value = true), (fault.value = ""))} />
        <p class="faint">Its address and its secret stay. For another receiver make another webhook.</p>
        <div role="alert">{fault.value === "" ? null : <p class="notice notice-red">Nothing was changed. {fault.value}</p>}</div>
        <p class="dialog-ways">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button class="primary" disabled={busy.value}>
            Save
          </button>
        </p>
      </form>
    </dialog>
  );
}
