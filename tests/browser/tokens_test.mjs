import assert from "node:assert/strict";
import { test } from "node:test";
import { axeViolations } from "./support/chromium.mjs";
import { sampleChange, sampleToken } from "./support/mock_access.mjs";
import { page, service, usePage } from "./support/mock_page.mjs";

const kDay = 86_400e6;

function prepare() {
  const now = Date.now() * 1000;
  service.reset();
  service.access.tokens = [
    sampleToken("aaaaaaa1", { name: "anna", scopes: ["mlp-*", "albef-1000"] }),
    sampleToken("aaaaaaa2", { name: "farm", role: "agent", last_used_us: null, expires_us: now + 5 * kDay + 60e6 }),
    sampleToken("aaaaaaa3", { name: "old", role: "operator", expires_us: now - kDay }),
    sampleToken("aaaaaaa4", { name: "gone", role: "admin", revoked_us: now - kDay }),
  ];
}
usePage(prepare, { permissions: ["clipboard-read", "clipboard-write"] });

const row = (name) => page.locator("tbody tr", { hasText: name });
async function open() {
  await page.goto(`${service.url}/tokens`);
  await row("anna").waitFor();
}
async function create(name) {
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create token" }).click();
}

test("each token is listed with who may do what, for which jobs, until when", async () => {
  await open();
  assert.match(await row("anna").textContent(), /annaaaaaaaa1readermlp-\*albef-1000\d{4}-\d\d-\d\d \d\d:\d\d:\d\dby local\d{4}.*ActiveRevoke anna$/);
  assert.match(await row("farm").textContent(), /agentall jobs.*never.*Active\(5 d 00 h left\)/);
  assert.match(await row("old").textContent(), /Expired$/);
  assert.match(await row("gone").textContent(), /Revoked$/);
  assert.equal(await page.locator(".list-note").textContent(), "4 tokens");
  assert.equal(await page.getByRole("button", { name: /^Revoke/ }).count(), 2, "what works no more cannot be revoked");
});

test("a new token is shown once, can be copied, and is in the list", async () => {
  await open();
  await page.getByLabel("Role").selectOption("agent");
  await page.getByLabel("Jobs").fill("mlp-*, albef-1000 mlp-*");
  await page.getByLabel("Expires in").selectOption("30");
  await create("nightly");
  const field = page.getByLabel("Token", { exact: true });
  assert.equal(await field.inputValue(), "st_agent_0123456789abcdef");
  assert.deepEqual(await axeViolations(page), []);
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "st_agent_0123456789abcdef");
  assert.match(await row("nightly").textContent(), /agentmlp-\*albef-1000/);
  assert.ok(Math.abs(service.access.tokens[0].expires_us / 1000 - Date.now() - 30 * 86_400e3) < 60e3);
  await page.getByRole("button", { name: "Done" }).click();
  await field.waitFor({ state: "detached" });
  assert.doesNotMatch(await page.content(), /st_agent_/);
});

test("an admin token is for all jobs", async () => {
  await open();
  await page.getByLabel("Jobs").fill("mlp-*");
  await page.getByLabel("Role").selectOption("admin");
  assert.equal(await page.getByLabel("Jobs").isDisabled(), true);
  await create("boss");
  await page.getByLabel("Token", { exact: true }).waitFor();
  assert.deepEqual(service.access.tokens[0].scopes, []);
});

test("a refused form says why and keeps what was written", async () => {
  page.expected.push(/status of 409/);
  await open();
  await create("taken");
  await page.getByText("The token was not made. Conflict: a token of this name stands already (HTTP 409").waitFor();
  assert.equal(await page.getByLabel("Name").inputValue(), "taken");
  assert.deepEqual(await axeViolations(page), []);
});

test("revoking asks first, and keeping is one key away", async () => {
  await open();
  await page.getByRole("button", { name: "Revoke farm" }).click();
  const dialog = page.getByRole("dialog");
  assert.match(await dialog.textContent(), /Revoke “farm”\?.*refused within 30 s/);
  assert.deepEqual(await axeViolations(page), []);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(service.access.tokens[1].revoked_us, null);
  await page.getByRole("button", { name: "Revoke farm" }).click();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await dialog.waitFor({ state: "detached" });
  await row("farm").getByText("Revoked").waitFor();
});

test("a failed revocation stays open and says why", async () => {
  page.expected.push(/status of 503/);
  await open();
  await page.getByRole("button", { name: "Revoke farm" }).click();
  service.fail(/tokens\/aaaaaaa2/, { status: 503, times: 1 });
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await dialog.getByText("The database is away").waitFor();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await dialog.waitFor({ state: "detached" });
});

test("who changed what is listed, and a new change appears", async () => {
  const change = (at, more) => sampleChange(at, more);
  service.access.changes = [change(5, { name: "anna", action: "job.delete", target: "mlp-demo" }), change(9)];
  await open();
  const rows = page.locator(".changes li");
  assert.match(await rows.nth(0).textContent(), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d.*anna.*job\.delete.*mlp-demo$/);
  assert.equal(await rows.count(), 2);
  service.access.changes = [change(0, { action: "token.revoke", target: "aaaaaaa2" }), ...service.access.changes];
  await page.getByRole("button", { name: "Revoke farm" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await rows.nth(2).waitFor();
});
