import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ApiError, address, ask } from "../api";
import { elapsed } from "../format";
import type { Session } from "../model";
import { acceptSession, session } from "../session";
import { now } from "../settings";
import { faultWords } from "../states";

// The login page asks for a token. The address stays as it is, so that signing in leads back to the page that was wanted.

/** The service's reason to refuse a token, and the time from which it accepts another try. */
interface Refusal {
  readonly words: string;
  readonly until: number;
}

function refusalOf(fault: unknown): Refusal {
  const error = fault instanceof ApiError ? fault : new ApiError(String(fault), null, null);
  return { words: faultWords(error), until: error.waitMs > 0 ? Date.now() + error.waitMs : 0 };
}

function Form() {
  const field = useRef<HTMLInputElement>(null);
  const busy = useSignal(false);
  const refusal = useSignal<Refusal | null>(null);
  const waitS = Math.ceil(((refusal.value?.until ?? 0) - now.value) / 1000);
  useEffect(() => field.current?.focus(), []);

  const signIn = async (event: Event) => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? "";
    if (token === "" || busy.value || waitS > 0) return;
    busy.value = true;
    try {
      const found = await ask<Session>(address("/session"), "role", { method: "POST", body: { token } });
      document.getElementById("content")?.focus();
      acceptSession(found);
    } catch (fault) {
      refusal.value = refusalOf(fault);
      field.current?.select();
    }
    busy.value = false;
  };

  return (
    <form class="login-form" onSubmit={(event) => void signIn(event)}>
      <label for="token">Token</label>
      <input
        ref={field}
        id="token"
        type="password"
        autocomplete="off"
        spellcheck={false}
        required
        maxLength={200}
        placeholder="st_reader_…"
        aria-describedby="login-fault"
        aria-invalid={refusal.value !== null}
      />
      <button class="primary" disabled={busy.value || waitS > 0}>
        {waitS > 0 ? `Wait ${elapsed(waitS)}` : "Sign in"}
      </button>
      <div id="login-fault" role="alert">
        {refusal.value === null ? null : <p class="notice notice-red">{refusal.value.words}</p>}
      </div>
    </form>
  );
}

export function LoginPage() {
  useEffect(() => void (document.title = "Sign in · Stepscope"), []);
  return (
    <section class="card login" aria-labelledby="login-title">
      <h1 id="login-title">Sign in</h1>
      <p class="faint">
        {session.value === null
          ? "This service shows its jobs to those who hold a token."
          : "Your session has ended. Sign in again and this page goes on where it was."}
      </p>
      <Form />
      <p class="faint">
        An admin makes tokens on the page “Tokens”; whoever runs the service, on its machine with:
      </p>
      <pre tabIndex={0} aria-label="The command that makes a token">
        <code>stepscope-server token create --role reader --name NAME</code>
      </pre>
    </section>
  );
}
