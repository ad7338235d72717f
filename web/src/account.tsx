import { useSignal } from "@preact/signals";
import { type ApiError, signedOut } from "./api";
import { dateTime } from "./format";
import { Icon } from "./icons";
import { session, signOut } from "./session";
import { faultWords } from "./states";

/**
 * The name of the signed-in person and the button that ends the session. A person whom a proxy or a certificate lets
 * in has no session to end. A service on which nobody has to sign in shows nothing here.
 */
export function Account() {
  const fault = useSignal("");
  const found = session.value;
  if (found === null || found.access === "open" || signedOut.value) return null;
  const onSignOut = () => {
    signOut().then(
      () => (fault.value = ""),
      (error: ApiError) => (fault.value = faultWords(error)),
    );
  };
  return (
    <>
      <button type="button" class="account" popovertarget="account" aria-label={`Signed in as ${found.name}, ${found.role}`}>
        <Icon name="person" />
        <span class="account-words">
          <b>{found.name}</b> {found.role}
        </span>
      </button>
      <div id="account" class="card account-card" popover="auto">
        <p>
          Signed in as <b>{found.name}</b> with the role {found.role},
          {found.scopes.length === 0 ? " for all jobs" : ` for the jobs ${found.scopes.join(", ")}`}
          {found.expires_us === null ? "" : `, until ${dateTime(found.expires_us, "utc")}`}.
        </p>
        {fault.value === "" ? null : <p role="alert">{fault.value}</p>}
        {found.expires_us === null ? null : (
          <button type="button" onClick={onSignOut}>
            Sign out
          </button>
        )}
      </div>
    </>
  );
}
