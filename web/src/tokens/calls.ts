import { address, ask } from "../api";
import type { Role } from "../model";

// The calls about tokens and about the audit log, as openapi.yaml describes them.

export interface Token {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly scopes: readonly string[]; // none: all jobs
  readonly nodes: readonly string[]; // none: all that are nobody else's
  readonly created_us: number;
  readonly created_by: string;
  readonly expires_us: number;
  readonly last_used_us: number | null;
  readonly revoked_us: number | null;
}

export interface TokenPage {
  readonly tokens: readonly Token[];
  readonly next: string | null;
  readonly total: number;
}

/** An entry of the audit log: who changed what. */
export interface Change {
  readonly at_us: number;
  readonly token_id: string | null;
  readonly name: string;
  readonly action: string; // "token.revoke"
  readonly target: string;
  readonly request_id: string | null;
}

export interface ChangePage {
  readonly items: readonly Change[];
  readonly next: string | null;
  readonly total: number;
}

export interface NewToken {
  readonly name: string;
  readonly role: Role;
  readonly scopes: readonly string[];
  readonly nodes: readonly string[];
  readonly expires_days: number;
}

/** A token with its secret, which the service says once and does not keep. */
export interface MadeToken extends Token {
  readonly token: string;
}

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
