// The service as the page sees it: the built files with the real headers, and scripted answers.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { bodyOf, MockAccess } from "./mock_access.mjs";
import { MockAlerts } from "./mock_alerts.mjs";
import { catalog, description, judged, listItem, metrics, parametersOf, previewed, refusalOf, steps } from "./sample_jobs.mjs";
import { fleet } from "./sample_fleet.mjs";
import { comparison, findings, heatmap, report, usage } from "./sample_parts.mjs";

const kDist = new URL("../../../web/dist", import.meta.url).pathname;
const kSlowMs = Number(process.env.STEPSCOPE_SLOW_MS ?? 0); // how late answers may come: tests that do not wait fail
const kTypes = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8" };
export const kHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types stepscope",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

function problem(reply, status, title, detail, more = {}) {
  const body = { type: "urn:stepscope:problem:test", title, status, code: "test", detail, request_id: "5f0c2b1a9d3e4f60" };
  reply.writeHead(status, { ...kHeaders, "content-type": "application/problem+json", "x-request-id": body.request_id, ...more });
  reply.end(JSON.stringify(body));
}

function sendFile(reply, path, status) {
  try {
    const body = readFileSync(join(kDist, path));
    reply.writeHead(status, { ...kHeaders, "content-type": kTypes[extname(path)] ?? "application/octet-stream", "cache-control": "no-cache" });
    reply.end(body);
  } catch {
    problem(reply, 404, "Not found", path);
  }
}

function listed(jobs, query) {
  const has = (key) => query.get(key) ?? "";
  const after = Date.parse(has("created_after")) * 1000 || 0;
  const before = Date.parse(has("created_before")) * 1000 || Infinity;
  const found = jobs
    .map(listItem)
    .filter((job) => job.name.toLowerCase().includes(has("name_contains").toLowerCase()))
    .filter((job) => has("group") === "" || job.group === has("group"))
    .filter((job) => has("status") === "" || has("status").split(",").includes(job.status))
    .filter((job) => has("rule") === "" || job.rules_in_trouble.includes(has("rule")))
    .filter((job) => has("rule_status") === "" || job.rules_in_trouble.length > 0)
    .filter((job) => has("verdict") === "" || has("verdict").split(",").includes(job.verdict))
    .filter((job) => job.created_us >= after && job.created_us < before);
  const sort = has("sort") || "-created";
  const key = (job) => (sort.endsWith("created") ? job.created_us : job[sort.replace("-", "")]);
  const turn = sort.startsWith("-") ? -1 : 1;
  found.sort((a, b) => (key(a) < key(b) ? -turn : key(a) > key(b) ? turn : 0));
  const from = Number(has("cursor") || 0);
  const to = from + Number(has("limit") || 50);
  return { items: found.slice(from, to), next: to < found.length ? String(to) : null, total: found.length };
}

/** A page of jobs as a table of their names and statuses. */
function tableOf({ items, next }, reply) {
  reply.writeHead(200, { ...kHeaders, "content-type": "text/csv; charset=utf-8", ...(next === null ? {} : { "stepscope-next": next }) });
  reply.end(["name,status", ...items.map(({ name, status }) => `${name},${status}`)].map((line) => `${line}\r\n`).join(""));
}

const listOf = (items) => ({ items, next: null, total: items.length });

function historyOf(job, rule) {
  const items = (job.history[rule] ?? []).map(([second, status, message], i) => ({ version: i + 1, status, start_time_us: job.startedUs + second * 1e6, message }));
  return listOf(items);
}

export class MockService {
  jobs = [];
  holders = []; // of GPUs: {key, jobs, held, busy, lost, cost}
  removed = []; // removed jobs, newest first
  requests = []; // what was asked for, in a batch or by itself
  sent = []; // the requests of the page as they came
  changes = []; // the requested changes of rules
  faults = []; // {match: RegExp, status, times, delayMs, words, headers}
  access = new MockAccess();
  alerts = new MockAlerts();
  readiness = { status: "ready", version: "0.1.0", checks: [{ name: "disk", ok: true, detail: "61 GiB free of 100 GiB" }] };
  change = (_url, body) => body; // lets a test change an answer before it is sent
  #server = createServer((request, reply) => void this.#answer(request, reply));

  async start() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.#server.address().port}`;
    return this;
  }

  stop() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  reset(jobs = []) {
    this.jobs = jobs;
    this.holders = [];
    this.removed = [];
    this.requests = [];
    this.sent = [];
    this.changes = [];
    this.faults = [];
    this.access = new MockAccess();
    this.alerts = new MockAlerts();
    this.change = (_url, body) => body;
  }

  /** The next `times` requests whose address matches are answered like this. */
  fail(match, { status = 500, times = Infinity, delayMs = 0, words = ["The database is away", "no connection within 3 s"], headers = {} } = {}) {
    this.faults.push({ match, status, times, delayMs, words, headers });
  }

  calls(match) {
    return this.requests.filter((url) => match.test(url));
  }

  async #answer(request, reply) {
    const url = new URL(request.url, "http://mock");
    if (!/\/batch$/.test(request.url)) this.requests.push(request.url);
    if (request.headers["x-part"] === undefined) this.sent.push(request.url);
    const fault = this.faults.find(({ match, times }) => times > 0 && match.test(request.url));
    if (fault) {
      fault.times -= 1;
      await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
      if (fault.status === 0) return request.socket.destroy();
      if (fault.status !== 200) return problem(reply, fault.status, ...fault.words, fault.headers);
    }
    if (url.pathname.startsWith("/api/v1/")) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * kSlowMs));
      return this.#api(url, request, reply);
    }
    if (url.pathname.startsWith("/assets/")) return sendFile(reply, url.pathname, 200);
    if (url.pathname === "/readyz") {
      reply.writeHead(200, { ...kHeaders, "content-type": "application/json" });
      return reply.end(JSON.stringify(this.readiness));
    }
    const known = /^\/(jobs(\/.*)?|tokens|alerts|compare|fleet|settings)?$/.test(url.pathname);
    return sendFile(reply, "/index.html", known ? 200 : 404);
  }

  /** Answers the calls of a batch as it would each by itself. */
  async #batch(request, json) {
    const { get } = await bodyOf(request);
    const cookie = request.headers.cookie ?? "";
    const part = async (target) => {
      const answer = await fetch(`${this.url}/api/v1${target}`, { headers: { cookie, "x-part": "1" } });
      const wait = answer.headers.get("retry-after");
      return { status: answer.status, ...(wait === null ? {} : { retry_after: Number(wait) }), body: await answer.json() };
    };
    const answers = await Promise.all(get.map(part)).catch(() => null);
    return answers === null ? request.socket.destroy() : json({ answers });
  }

  #delete(job, request, json, refuse) {
    if (!["operator", "admin"].includes(this.access.caller(request).role)) return refuse(403, "Not allowed", "the role may not do this");
    this.jobs = this.jobs.filter((each) => each !== job);
    return json(null, 204);
  }

  #compare(query, json, refuse) {
    const [a, b] = ["a", "b"].map((side) => this.jobs.find(({ name }) => name === query.get(side)));
    return a && b ? json(comparison(a, b)) : refuse(404, "No such job", `there is no job ${query.get(a ? "b" : "a")}`);
  }

  #preview(job, body, json, refuse) {
    const wrong = refusalOf(body.name, body.parameters);
    return wrong === "" ? json(previewed(job, body)) : refuse(400, "Invalid body", wrong);
  }

  #change(job, { configuration }, json, refuse) {
    const [{ name, parameters }] = configuration.rules;
    const wrong = refusalOf(name, parameters);
    if (wrong !== "") return refuse(400, "Invalid body", wrong);
    job.parameters = { ...job.parameters, [name]: parametersOf(job, name, parameters) };
    this.changes.push({ name, parameters });
    return json(description(job));
  }

  async #api(url, request, reply) {
    const [, , , thing, name, part, more, last] = url.pathname.split("/");
    const json = (body, status = 200, headers = {}) => {
      reply.writeHead(status, { ...kHeaders, "content-type": "application/json", "cache-control": "no-store", ...headers });
      reply.end(status === 204 ? "" : JSON.stringify(this.change(url, body)));
    };
    const refuse = (...words) => problem(reply, ...words);
    const knocks = thing === "session" && request.method === "POST";
    if (!knocks && this.access.caller(request) === null) return refuse(401, "A token is wanted", 'this call needs a token, as "Authorization: Bearer st_..."');
    if (thing === "batch") return this.#batch(request, json);
    if ((await this.access.answer(request, thing, name, json, refuse)) !== false) return undefined;
    if ((await this.alerts.answer(request, thing, name, part, this.access.caller(request).role, json, refuse)) !== false) return undefined;
    if (thing === "removals") return json({ items: this.removed.slice(0, 50), next: null, total: this.removed.length });
    if (thing === "compare") return this.#compare(url.searchParams, json, refuse);
    if (thing === "fleet") return json(fleet(this.holders, url.searchParams));
    if (thing === "rules") return json({ items: catalog() });
    if (name === undefined && url.searchParams.get("format") === "csv") return tableOf(listed(this.jobs, url.searchParams), reply);
    if (name === undefined) return json(listed(this.jobs, url.searchParams));
    const job = this.jobs.find((each) => each.name === decodeURIComponent(name));
    if (!job) return problem(reply, 404, "No such job", `there is no job ${name}`);
    if (request.method === "DELETE") return this.#delete(job, request, json, refuse);
    if (more === "preview") return this.#preview(job, await bodyOf(request), json, refuse);
    if (request.method === "PATCH") return this.#change(job, await bodyOf(request), json, refuse);
    if (last === "transitions") return json(historyOf(job, decodeURIComponent(more)));
    const parts = {
      usage: () => usage(job), windows: () => listOf(job.windows), events: () => listOf(job.events),
      metrics: () => metrics(job, url.searchParams), steps: () => steps(job, url.searchParams), rules: () => judged(job), findings: () => findings(job), heatmap: () => heatmap(job, url.searchParams), report: () => report(job),
    };
    return json(part === undefined ? description(job) : parts[part]());
  }
}
