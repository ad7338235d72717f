import { address, ask } from "../api";
import type { components } from "../openapi";

// The calls about tokens and about the audit log.

type Schemas = components["schemas"];

/** No scopes: all jobs; no nodes: all that are nobody else's. */
export type Token = Schemas["Token"];
export type TokenPage = Schemas["TokenPage"];
/** An entry of the audit log: who changed what. */
export type Change = Schemas["AuditRow"];
export type ChangePage = Schemas["AuditPage"];
export type NewToken = Schemas["NewToken"];
/** A token with its secret, which the service says once and does not keep. */
export type MadeToken = Schemas["CreatedToken"];

export function listTokens(cursor: string, stop: AbortSignal): Promise<TokenPage> {
  return ask(address("/tokens", { cursor }), "tokens", { stop });
}

export function makeToken(wanted: NewToken): Promise<MadeToken> {
  return ask(address("/tokens"), "token", { method: "POST", body: wanted });
}

export function revokeToken(id: string): Promise<null> {
  return ask(address(`/tokens/${encodeURIComponent(id)}`), "", { method: "DELETE" });
}

export function listChanges(stop: AbortSignal): Promise<ChangePage> {
  return ask(address("/audit"), "items", { stop });
}
