import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { sampleChange, sampleToken } from "./support/mock_access.mjs";
import { page, service, usePage } from "./support/mock_page.mjs";
import { XssRun } from "./support/xss_run.mjs";

// The corpus in everything about tokens: the list, a new and a revoked token, the signed-in name, the login.

let run;

usePage(() => service.reset());
beforeEach(async () => {
  run = await XssRun.open(service, page);
});

/** Opens the dialog that revokes each token, cancels it, and gives the questions it asked. */
async function askAll() {
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const asked = [];
  for (const button of document.querySelectorAll("tbody button")) {
    button.click();
    while (!document.querySelector("dialog[open]")) await painted();
    asked.push(document.querySelector("dialog[open] h2").textContent);
    document.querySelector("dialog[open]").close();
    while (document.querySelector("dialog")) await painted();
  }
  return asked;
}

test("every text in every field of the tokens, and in the question before one is revoked", async () => {
  service.access.tokens = Array.from({ length: 50 }, (_, i) => sampleToken(`id${i}`, { scopes: ["x", "y"], nodes: ["z"] }));
  service.access.changes = Array.from({ length: 50 }, (_, i) => sampleChange(i));
  run.poisonAnswers(/\/(tokens|audit)$/);
  await run.eachPage(50, async () => {
    run.placed = [];
    await run.page.goto(`${service.url}/tokens`);
    await run.page.locator("tbody tr").nth(49).waitFor();
    await run.page.locator(".changes li").nth(49).waitFor();
    await run.assertShown(run.textsOf("name", "role", "scopes", "nodes", "created_by", "action", "target"));
    const asked = await run.page.evaluate(askAll);
    assert.deepEqual(asked, Array.from(asked, (_, i) => `Revoke “${run.text(i)}”?`));
    assert.equal(asked.length, 50);
    await run.page.setViewportSize({ width: 390, height: 800 });
    await run.page.locator(".token-name").first().waitFor();
    await run.assertShown(run.textsOf("name", "role", "scopes", "nodes", "created_by"));
    await run.page.setViewportSize({ width: 1280, height: 900 });
  });
});

/** Sends the form with a text and waits for the result. */
async function make(name) {
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  document.querySelector("[name=name]").value = name || "x";
  document.querySelector("form.token-form").requestSubmit();
  while (!document.querySelector(".token-made")) await painted();
  const said = [document.querySelector(".token-made h2").textContent, document.querySelector(".token-made input").value];
  document.querySelector(".token-made button:last-of-type").click();
  while (!document.querySelector("form.token-form")) await painted();
  return said;
}

test("every text in the token that was made", async () => {
  await run.page.goto(`${service.url}/tokens`);
  await run.page.locator(".token-form").waitFor();
  service.change = (_url, body) => ("token" in body ? { ...body, name: run.text(), token: run.text(1) } : body);
  await run.eachText(async (name, token) => {
    service.access.tokens = [];
    const said = await run.page.evaluate(make, "x");
    assert.deepEqual(said, [`The token of “${name}”`, token.replace(/[\r\n]/g, "")]);
    await run.assertNoViolation();
  });
});

test("every text in who is signed in", async () => {
  service.access.demand({ st_reader_x: { name: "x", role: "reader", scopes: ["x"] } });
  run.page.expected.push(/status of 401/);
  await run.page.goto(`${service.url}/jobs`);
  await run.page.locator("#token").fill("st_reader_x");
  await run.page.keyboard.press("Enter");
  await run.page.locator(".account").waitFor();
  run.poisonAnswers(/\/session$/);
  await run.eachText(async (name, role) => {
    run.placed = [];
    await run.page.evaluate(() => new BroadcastChannel("stepscope.session").postMessage("again"));
    await run.until((label) => document.querySelector(".account").ariaLabel === label, `Signed in as ${name}, ${role}`);
    await run.assertShown(run.textsOf("name", "role", "scopes"));
  });
});

/** Tries a token and gives the message of the login page. */
async function knock(status) {
  document.querySelector("#token").value = "st_x";
  document.querySelector("form").requestSubmit();
  const said = () => document.querySelector("#login-fault").textContent;
  while (!said().includes(`(HTTP ${status}`)) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}

test("every text in what the login says", async () => {
  service.access.demand({ st_reader_x: { name: "x", role: "reader" } });
  run.page.expected.push(/status of 40[013]/);
  await run.page.goto(`${service.url}/jobs`);
  await run.page.locator("#token").waitFor();
  await run.eachText(async (title, detail) => {
    const status = run.round % 2 === 0 ? 400 : 403;
    service.faults = [];
    service.fail(/session/, { status, words: [title, `${detail} `] });
    await run.page.evaluate(knock, status);
    await run.assertShown([title, detail]);
  });
});
