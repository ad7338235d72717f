// Signing in, and the tokens page, on the real service that demands tokens. tests/e2e/page_test.py starts it.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { assertClean, axeViolations, launch, openPage } from "./support/chromium.mjs";
import { NodeFrames } from "./support/frames.mjs";
import { kSkip, RealService, signIn } from "./support/real_service.mjs";

const service = new RealService();
const kBegin = Date.now() * 1000 - 600e6;
let browser, page;

before(async () => {
  if (kSkip) return;
  const node = new NodeFrames("mlp-1", "host-1").lifecycle(kBegin, { event: "started", group: "", interval_ms: 500, command: ["train"], facts: {} });
  for (let at = 0; at < 40; at += 1) node.tick(kBegin + at * 500_000, [["node_cpu_percent", "", at]]);
  await service.push(node);
  browser = await launch();
});
after(() => browser?.close());
beforeEach(async () => {
  if (kSkip) return;
  page = await openPage(browser, { ignoreHTTPSErrors: true });
  page.expected.push(/status of 40[13]/);
});
afterEach(async () => {
  if (kSkip) return;
  await assertClean(page);
  await page.context().close();
});

const reader = (more = {}) => service.makeToken({ name: "anna", role: "reader", ...more });
const account = () => page.getByRole("button", { name: /^Signed in as/ });

test("a wrong token is refused in words, the right one leads to the jobs, Sign out ends the session", { skip: kSkip }, async () => {
  const { token } = await reader();
  await page.goto(`${service.url}/jobs`);
  await signIn(page, `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`);
  await page.locator("#login-fault").getByText(/HTTP 401, request [0-9a-f]+/).waitFor();
  await signIn(page, token);
  await page.getByRole("link", { name: "mlp-1" }).waitFor();
  assert.equal(await account().textContent(), "anna reader");
  const [cookie] = await page.context().cookies();
  const tls = service.url.startsWith("https:");
  assert.deepEqual([cookie.name, cookie.httpOnly, cookie.secure, cookie.sameSite], [tls ? "__Host-st" : "st", true, tls, "Strict"]);
  await account().click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.locator("#token").waitFor();
  const stolen = await fetch(`${service.url}/api/v1/jobs`, { headers: { cookie: `${cookie.name}=${cookie.value}` } });
  assert.equal(stolen.status, 401, "the cookie of before is worth nothing");
});

test("a session that ends asks for a token, and the same page goes on", { skip: kSkip }, async () => {
  const old = await reader();
  const link = `${service.url}/jobs/mlp-1?from=2000&to=9000`;
  await page.goto(link);
  await signIn(page, old.token);
  await page.locator("[aria-labelledby=chart-cpu] canvas").waitFor();
  await service.revoke(old.id);
  await page.getByText("Your session has ended.").waitFor();
  await signIn(page, (await reader()).token);
  await page.locator("[aria-labelledby=chart-cpu] canvas").waitFor();
  assert.equal(page.url(), link);
  assert.match(await page.locator(".toolbar-span").textContent(), /^2 s to 9 s$/);
});

test("a reader sees only the jobs of the token, and no tokens", { skip: kSkip }, async () => {
  await page.goto(`${service.url}/tokens`);
  await signIn(page, (await reader({ scopes: ["other-*"] })).token);
  await page.getByRole("heading", { name: "Tokens are for admins" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Tokens" }).count(), 0);
  await page.goto(`${service.url}/jobs`);
  await page.getByText("Your token shows only the jobs other-*.").waitFor();
  assert.equal(await page.locator(".job-link").count(), 0);
});

/** Makes a token on the page and gives its text. */
async function make(name) {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Jobs").fill("mlp-*");
  await page.getByRole("button", { name: "Create token" }).click();
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}

test("an admin makes a token, copies it once, and revokes it after a question", { skip: kSkip }, async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: service.url });
  await page.goto(`${service.url}/tokens`);
  await signIn(page, service.token);
  await page.getByRole("heading", { name: "New token" }).waitFor();
  const token = await make("nightly");
  assert.match(token, /^st_reader_[0-9A-Za-z]{8}_/);
  await service.do("GET", "/jobs/mlp-1", undefined, 200, token);
  await page.reload();
  const row = page.locator("tbody tr", { hasText: "nightly" });
  await row.waitFor();
  assert.ok(!(await page.content()).includes(token), "the token is shown once");
  assert.match(await row.textContent(), /reader.*mlp-\*.*by root.*Active/s);
  assert.deepEqual(await axeViolations(page), []);
  await page.getByRole("button", { name: "Revoke nightly" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row.getByText("Revoked").waitFor();
  await service.do("GET", "/jobs/mlp-1", undefined, 401, token);
  const changes = page.locator(".changes li");
  await changes.filter({ hasText: "token.revoke" }).filter({ hasText: token.split("_")[2] }).waitFor();
  await changes.filter({ hasText: "token.create" }).filter({ hasText: "root" }).first().waitFor();
});

test("an operator deletes a job by its name, and it is gone for everybody", { skip: kSkip }, async () => {
  const node = new NodeFrames("gone-1", "host-1").lifecycle(kBegin, { event: "started", group: "", interval_ms: 500, command: ["train"], facts: {} });
  await service.push(node.tick(kBegin, [["node_cpu_percent", "", 1]]));
  const operator = await service.makeToken({ name: "otto", role: "operator" });
  await page.goto(`${service.url}/jobs/gone-1`);
  await signIn(page, operator.token);
  await page.getByRole("button", { name: "Delete this job…" }).click();
  await page.getByLabel("Type its name to confirm").fill("gone-1");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/\/jobs$/);
  await page.getByRole("link", { name: "mlp-1" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "gone-1" }).count(), 0);
  await service.do("GET", "/jobs/gone-1", undefined, 404);
  const { items } = await service.do("GET", "/audit");
  assert.deepEqual([items[0].action, items[0].target, items[0].name], ["job.delete", "gone-1", "otto"]);
});
