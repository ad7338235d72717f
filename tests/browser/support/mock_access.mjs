// Tokens and sessions as the service keeps them: open until `demand` names tokens.

import { randomUUID } from "node:crypto";

const kOpen = { name: "local", role: "admin", scopes: [], expires_us: null, access: "open" };
const kDay = 86_400e6;

export async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString() || "null");
}

/** A token of the list, as the service shows it. */
export function sampleToken(id, more = {}) {
  const at = Date.now() * 1000;
  return {
    id, name: `name-${id}`, role: "reader", scopes: [], nodes: [], created_us: at - 40 * kDay, created_by: "local",
    expires_us: at + 300 * kDay, last_used_us: at - 60e6, revoked_us: null, ...more,
  };
}

export function sampleChange(at, more = {}) {
  const us = Date.now() * 1000 - at * 60e6;
  return { at: new Date(us / 1000).toISOString(), at_us: us, token_id: null, name: "local", action: "token.create", target: `id${at}`, request_id: null, ...more };
}

export class MockAccess {
  #secrets = new Map(); // secret -> {name, role, scopes}
  #sessions = new Map();
  tokens = [];
  changes = [];

  /** From now on only these tokens are let in. */
  demand(secrets) {
    this.#secrets = new Map(Object.entries(secrets));
  }

  /** Ends all sessions, as their expiry would. */
  endSessions() {
    this.#sessions.clear();
  }

  /** The session of the request's cookie, or null. */
  caller(request) {
    if (this.#secrets.size === 0) return kOpen;
    const cookie = /(?:^|;\s*)st=([^;]+)/.exec(request.headers.cookie ?? "")?.[1];
    return this.#sessions.get(cookie) ?? null;
  }

  /** Answers the calls about tokens and sessions; false for other calls. */
  async answer(request, thing, id, json, problem) {
    if (thing === "session") return this.#session(request, json, problem);
    if (!["audit", "tokens"].includes(thing)) return false;
    if (this.caller(request).role !== "admin") return problem(403, "Not allowed", "the role reader may not do this");
    if (thing === "audit") return json({ items: this.changes, next: null, total: this.changes.length });
    if (request.method === "POST") return this.#create(await bodyOf(request), json, problem);
    if (request.method === "DELETE") return this.#revoke(id, json);
    return json({ tokens: this.tokens, next: null, total: this.tokens.length });
  }

  async #session(request, json, problem) {
    if (request.method === "GET") return json(this.caller(request));
    if (request.method === "DELETE") return json(null, 204, { "set-cookie": "st=; Max-Age=0; Path=/" });
    const { token } = await bodyOf(request);
    const found = this.#secrets.get(token);
    if (!found) return problem(401, "A token is wanted", "the token is not valid");
    const id = randomUUID();
    const session = { name: found.name, role: found.role, scopes: [], expires_us: Date.now() * 1000 + 7 * kDay, ...found };
    this.#sessions.set(id, { ...session, access: "tokens" });
    return json(session, 200, { "set-cookie": `st=${id}; HttpOnly; SameSite=Strict; Path=/` });
  }

  #create({ name, role, scopes, nodes, expires_days }, json, problem) {
    if (name === "taken") return problem(409, "Conflict", "a token of this name stands already");
    const expires = Date.now() * 1000 + expires_days * kDay;
    const made = sampleToken(`id${this.tokens.length}`, { name, role, scopes, nodes, created_us: Date.now() * 1000, last_used_us: null, expires_us: expires });
    this.tokens = [made, ...this.tokens];
    return json({ ...made, token: `st_${role}_0123456789abcdef` }, 201);
  }

  #revoke(id, json) {
    this.tokens.find((token) => token.id === id).revoked_us = Date.now() * 1000;
    return json(null, 204);
  }
}
