import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ApiError } from "../api";
import { session } from "../session";
import { faultWords } from "../states";
import { revokeToken, type Token } from "./calls";

interface RevokeProps {
  readonly token: Token;
  readonly close: () => void;
  readonly revoked: () => void;
}

/** Asks once more: what is revoked never works again. */
export function Revoke({ token, close, revoked }: RevokeProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const fault = useSignal("");
  const busy = useSignal(false);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const revoke = async () => {
    busy.value = true;
    try {
      await revokeToken(token.id);
      revoked();
      dialog.current?.close();
    } catch (error) {
      fault.value = error instanceof ApiError ? faultWords(error) : String(error);
    }
    busy.value = false;
  };
  return (
    <dialog ref={dialog} class="question" aria-labelledby="revoke-title" onClose={close}>
      <h2 id="revoke-title">Revoke “{token.name}”?</h2>
      <p>
        Whoever uses this {token.role} token is refused within 30 s, and it never works again.
        {token.role === "agent" ? " Its agents keep their samples and wait for a new token." : ""}
      </p>
      {token.name === session.value?.name ? <p><b>You are signed in under this name: you may be signed out.</b></p> : null}
      <div role="alert">{fault.value === "" ? null : <p class="notice notice-red">{fault.value}</p>}</div>
      <p class="dialog-ways">
        <button type="button" autofocus onClick={() => dialog.current?.close()}>
          Keep it
        </button>
        <button type="button" class="danger" disabled={busy.value} onClick={() => void revoke()}>
          Revoke
        </button>
      </p>
    </dialog>
  );
}
