import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { ApiError } from "../api";
import { Icon } from "../icons";
import type { Role } from "../model";
import { faultWords } from "../states";
import { type MadeToken, makeToken } from "./calls";

// The form that makes a token, and the one time that its secret is on screen.

const kRoles: Readonly<Record<Role, string>> = {
  reader: "looks at jobs, charts and rules",
  agent: "sends the samples of its jobs, reads nothing",
  operator: "also changes rules and webhooks, stops and deletes jobs",
  admin: "everything, also tokens",
};
const kDays: readonly (readonly [number, string])[] = [
  [1, "1 day"],
  [7, "7 days"],
  [30, "30 days"],
  [90, "90 days"],
  [365, "1 year"],
];

/** Whether such a token sends data of nodes. */
function sends(role: Role): boolean {
  return role === "agent" || role === "operator";
}

/** "mlp-*, albef-1000" as a list. */
export function scopesOf(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/).filter((scope) => scope !== ""))];
}

function Made({ made, done }: { readonly made: MadeToken; readonly done: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const copied = useSignal(false);
  const copy = async () => {
    field.current?.select();
    // Without TLS a browser has no clipboard; the selected text can be copied by hand.
    await navigator.clipboard?.writeText(made.token).then(() => (copied.value = true), () => {});
  };
  return (
    <section class="card token-made" aria-labelledby="made-title">
      <h2 id="made-title">The token of “{made.name}”</h2>
      <p>Copy it now. It is shown this once; the service keeps only what it needs to recognise it.</p>
      <div class="token-line">
        <input ref={field} readOnly value={made.token} aria-label="Token" onFocus={(event) => event.currentTarget.select()} />
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

function Form({ made }: { readonly made: (token: MadeToken) => void }) {
  const role = useSignal<Role>("reader");
  const busy = useSignal(false);
  const fault = useSignal("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy.value) return;
    const form = event.currentTarget as HTMLFormElement;
    const text = (name: string) => String(new FormData(form).get(name) ?? "").trim();
    const scopes = role.value === "admin" ? [] : scopesOf(text("scopes"));
    const nodes = sends(role.value) ? scopesOf(text("nodes")) : [];
    busy.value = true;
    fault.value = "";
    makeToken({ name: text("name"), role: role.value, scopes, nodes, expires_days: Number(text("days")) })
      .then((token) => (form.reset(), (role.value = "reader"), made(token)), (error: ApiError) => (fault.value = faultWords(error)))
      .finally(() => (busy.value = false));
  };
  return (
    <form class="card token-form" aria-labelledby="form-title" onSubmit={submit}>
      <h2 id="form-title">New token</h2>
      <div class="token-fields">
        <label>
          <span>Name</span>
          <input name="name" required maxLength={63} autocomplete="off" spellcheck={false} placeholder="who or what holds it" />
        </label>
        <label>
          <span>Jobs</span>
          <input name="scopes" autocomplete="off" spellcheck={false} disabled={role.value === "admin"} placeholder="all; or names and prefixes: mlp-*, albef-1000" />
        </label>
        <label>
          <span>Nodes</span>
          <input name="nodes" autocomplete="off" spellcheck={false} disabled={!sends(role.value)} placeholder="all that are nobody else's; or kept for it: train-*" />
        </label>
        <label>
          <span>Role</span>
          <select name="role" value={role.value} onChange={(event) => (role.value = event.currentTarget.value as Role)}>
            {Object.keys(kRoles).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>Expires in</span>
          <select name="days">
            {kDays.map(([days, words]) => (
              <option key={days} value={String(days)} selected={days === 90}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <button class="primary" disabled={busy.value}>
          Create token
        </button>
      </div>
      <p class="faint">
        <b>{role.value}</b>: {kRoles[role.value]}.
      </p>
      <div role="alert">
        {fault.value === "" ? null : (
          <p class="notice notice-red">
            <Icon name="cross" /> <span>The token was not made. {fault.value}</span>
          </p>
        )}
      </div>
    </form>
  );
}

export function Create({ changed }: { readonly changed: () => void }) {
  const made = useSignal<MadeToken | null>(null);
  const found = made.value;
  if (found !== null) return <Made made={found} done={() => (made.value = null)} />;
  return <Form made={(token) => ((made.value = token), changed())} />;
}
