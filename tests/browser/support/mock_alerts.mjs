// Webhooks and their messages as the service keeps them. Messages are delivered when the next list of them is asked for.

import { bodyOf } from "./mock_access.mjs";

const attempt = (more = {}) => ({ at: null, at_us: Date.now() * 1000, status: 204, duration_ms: 12.4, answer: "", error: null, ...more });

export class MockAlerts {
  webhooks = [];
  deliveries = [];
  answers = attempt; // what becomes of the next messages

  deliver(id, webhook, more = {}) {
    const now = Date.now() * 1000;
    const made = { id, webhook, job: null, event: "webhook.test", sequence: 0, state: "ready", created: "", created_us: now, due: "", due_us: now, delivered: null, delivered_us: null, attempts: [], ...more };
    this.deliveries = [made, ...this.deliveries];
    return made;
  }

  #send() {
    if (this.answers === null) return;
    for (const message of this.deliveries.filter(({ state }) => state === "ready")) {
      const tried = this.answers();
      message.attempts = [...message.attempts, tried];
      message.state = tried.status === 204 ? "delivered" : "dead";
    }
  }

  /** Answers the calls about webhooks and messages; false for other calls. */
  async answer(request, thing, id, part, role, json, problem) {
    if (thing !== "webhooks" && thing !== "deliveries") return false;
    if (!["operator", "admin"].includes(role)) return problem(403, "Not allowed", "the role reader may not do this");
    if (thing === "deliveries" && part === "retry") {
      const message = this.deliveries.find((each) => each.id === id);
      message.state = "ready";
      return json(message, 202);
    }
    if (thing === "deliveries") {
      const before = JSON.stringify(this.deliveries);
      this.#send();
      const query = new URL(request.url, "http://mock").searchParams;
      const items = JSON.parse(before).filter((each) => ["job", "webhook"].every((key) => !query.get(key) || each[key] === query.get(key)));
      return json({ items, next: null, total: items.length });
    }
    if (part === "test") return json(this.deliver(`${this.deliveries.length + 1}`, id), 202);
    if (request.method === "DELETE") {
      this.webhooks = this.webhooks.filter((each) => each.id !== id);
      return json(null, 204);
    }
    if (request.method === "PATCH") {
      const change = await bodyOf(request);
      this.webhooks = this.webhooks.map((each) => (each.id === id ? { ...each, ...change, ...("enabled" in change ? { note: "" } : {}) } : each));
      return json(this.webhooks.find((each) => each.id === id));
    }
    if (request.method !== "POST") return json({ items: this.webhooks });
    const { url, events, after_seconds } = await bodyOf(request);
    if (url.includes("10.0.0.")) return problem(400, "Invalid body", "url: 10.0.0.1 is a private address; --webhook-allow lets the service send to it");
    const made = { id: `${this.webhooks.length + 1}`, url, events, after_seconds, enabled: true, note: "", created: "", created_us: Date.now() * 1000 };
    this.webhooks = [...this.webhooks, made];
    return json({ ...made, secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" }, 201);
  }
}
