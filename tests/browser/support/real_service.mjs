// A service that runs already and demands tokens: STEPSCOPE_URL, and STEPSCOPE_TOKEN of an admin.

import assert from "node:assert/strict";

const kFrames = "application/vnd.stepscope.frames";

export const kSkip = process.env.STEPSCOPE_URL && process.env.STEPSCOPE_TOKEN ? false : "STEPSCOPE_URL and STEPSCOPE_TOKEN are not set";

export class RealService {
  url = process.env.STEPSCOPE_URL;
  token = process.env.STEPSCOPE_TOKEN;

  /** Calls the service; gives the status and the answer. */
  async ask(method, path, body, token = this.token) {
    const bytes = body instanceof Uint8Array;
    const headers = { authorization: `Bearer ${token}` };
    if (body !== undefined) headers["content-type"] = bytes ? kFrames : "application/json";
    const reply = await fetch(`${this.url}/api/v1${path}`, { method, headers, body: bytes || body === undefined ? body : JSON.stringify(body) });
    const text = await reply.text();
    return { status: reply.status, body: text === "" ? null : JSON.parse(text) };
  }

  /** A call that must be answered with `status`. */
  async do(method, path, body, status = 200, token = this.token) {
    const answer = await this.ask(method, path, body, token);
    assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  makeToken(order, token = this.token) {
    return this.do("POST", "/tokens", { scopes: [], expires_days: 1, ...order }, 201, token);
  }

  revoke(id) {
    return this.do("DELETE", `/tokens/${id}`, undefined, 204);
  }

  /** Every frame of a push must be stored. */
  async push(node) {
    const answer = await this.do("POST", "/ingest/frames", node.push());
    assert.deepEqual(answer.rejected, []);
  }
}

/** Signs in where the page asks for it. */
export async function signIn(page, token) {
  await page.locator("#token").fill(token);
  await page.keyboard.press("Enter");
}
