import { computed, signal } from "@preact/signals";
import { ask, address, signedOut } from "./api";
import type { Session } from "./model";
import { type Poll, poll } from "./poll";

// The session of the person at the page. The service decides what they may do; the page only leaves out what it
// would refuse. All tabs of the browser share one session, so each tells the others when it changes.

/** The last known session; null until the service has answered. */
export const session = signal<Session | null>(null);
export const isAdmin = computed(() => session.value?.role === "admin");
export const mayChange = computed(() => isAdmin.value || session.value?.role === "operator");

const tabs = new BroadcastChannel("stepscope.session");
let asked: Poll | null = null;

/** Asks the service who is signed in. */
export function startSession(): void {
  tabs.onmessage = startSession;
  asked?.stop();
  const read = async (stop: AbortSignal) => {
    session.value = await ask<Session>(address("/session"), "role", { stop, patient: true });
    signedOut.value = false;
  };
  asked = poll(read, () => null);
}

export function acceptSession(found: Session): void {
  asked?.stop(); // its late answer would overwrite the new session with the one before
  session.value = found;
  signedOut.value = false;
  tabs.postMessage("in");
}

export async function signOut(): Promise<void> {
  await ask<null>(address("/session"), "", { method: "DELETE" });
  session.value = null;
  signedOut.value = true;
  tabs.postMessage("out");
}
