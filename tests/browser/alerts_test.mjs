import assert from "node:assert/strict";
import { test } from "node:test";
import { axeViolations } from "./support/chromium.mjs";
import { page, service, usePage } from "./support/mock_page.mjs";

// Alerts: a webhook is made, tested and watched without reading the manual.

usePage(() => service.reset([]));

const kUrl = "https://alerts.example.com/stepscope";

async function open() {
  await page.goto(`${service.url}/alerts`);
  await page.getByRole("heading", { name: "Webhooks" }).waitFor();
}
const log = () => page.getByRole("region", { name: "Messages" });

test("by keyboard: a webhook is made, its secret is shown once, and a test shows what became of it", async () => {
  await open();
  await page.getByLabel("Address").fill(kUrl);
  await page.keyboard.press("Enter");
  const secret = page.getByRole("textbox", { name: "Secret" });
  await secret.waitFor();
  assert.match(await secret.inputValue(), /^whsec_/);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.getAttribute("name"));
  assert.equal(await focused(), "Secret");
  assert.deepEqual(service.alerts.webhooks[0].events, ["rule.issues_found", "job.failed", "job.stalled"]);
  await page.getByRole("button", { name: "Done" }).press("Enter");
  await page.getByLabel("Address").waitFor();
  assert.equal(await focused(), "url");
  await page.getByRole("button", { name: `Send test to ${kUrl}` }).press("Enter");
  await log().getByText("Delivered").waitFor();
  assert.match(await log().locator("tbody tr").first().textContent(), /webhook\.test.*stepscopeDelivered HTTP 204 in 12\.4 ms/);
  assert.match(await page.locator(".alert-hook").textContent(), /Delivered, HTTP 204 in 12\.4 ms/);
  assert.deepEqual(await axeViolations(page), []);
});

test("a message that was given up says why, shows the answer, and can be sent again", async () => {
  service.alerts.webhooks = [{ id: "1", url: kUrl, events: [], after_seconds: 0, enabled: true, note: "", created: "", created_us: Date.now() * 1000 }];
  const tried = { at: null, at_us: Date.now() * 1000, status: 500, duration_ms: 84, answer: "<b>no such channel</b>", error: null };
  service.alerts.deliver("7", "1", { event: "job.failed", job: "mlp-demo", state: "dead", attempts: [{ ...tried, status: null, duration_ms: 5000, answer: null, error: "connect: timed out after 5 s" }, tried] });
  await open();
  const row = log().locator("tbody tr").first();
  assert.match(await row.textContent(), /Given up HTTP 500 in 84\.0 ms, attempt 2/);
  await row.getByText("2 attempts").click();
  assert.match(await row.locator("ol").textContent(), /connect: timed out after 5 s.*HTTP 500.*<b>no such channel<\/b>/s);
  assert.deepEqual(await axeViolations(page), []);
  await page.getByRole("button", { name: "Send again message 7" }).click();
  await row.getByText("Delivered").waitFor();
  assert.match(await row.textContent(), /attempt 3/);
});

test("what cannot be a webhook is refused with the reason, by the page or the service", async () => {
  page.expected.push(/status of 400/);
  await open();
  for (const [text, why] of [["alerts.example.com", /must be a whole address/], ["ftp://x/y", /must begin with https/], ["http://10.0.0.1/x", /private address; --webhook-allow/]]) {
    await page.getByLabel("Address").fill(text);
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByText(why).waitFor();
  }
  assert.equal(service.alerts.webhooks.length, 0);
});

test("events are chosen, and the message they send is shown before", async () => {
  await open();
  for (const name of ["rule.issues_found", "job.failed"]) await page.getByRole("checkbox", { name: new RegExp(name) }).uncheck();
  await page.getByText("What such a message looks like").click();
  assert.match(await page.locator("form pre").textContent(), /"type": "job\.stalled".*"job": "resnet-42"/s);
  await page.getByRole("checkbox", { name: /job\.stalled/ }).uncheck();
  await page.getByLabel("Address").fill(kUrl);
  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByText("Choose at least one event.").waitFor();
});

test("events of rules are wanted of some rules only, which are named, and the list says so", async () => {
  await open();
  await page.getByLabel("Of these rules only").fill("IdleGPU, Straggler IdleGPU");
  await page.getByText("What such a message looks like").click();
  assert.match(await page.locator("form pre").textContent(), /"rule": "IdleGPU"/);
  await page.getByLabel("Address").fill(kUrl);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Done" }).click();
  assert.deepEqual(service.alerts.webhooks[0].events, ["rule.issues_found:IdleGPU", "rule.issues_found:Straggler", "job.failed", "job.stalled"]);
  assert.match(await page.locator(".alert-hook").textContent(), /rule\.issues_found of IdleGPU, Straggler · job\.failed · job\.stalled · since/);
  assert.equal(await page.getByLabel("Of these rules only").inputValue(), "");
  await page.getByRole("checkbox", { name: /rule\.issues_found/ }).uncheck();
  assert.equal(await page.getByLabel("Of these rules only").count(), 0, "no event of a rule is chosen");
  assert.deepEqual(await axeViolations(page), []);
});

test("what lasts shorter than was asked for is not sent, and the log says so", async () => {
  await open();
  await page.getByLabel("Address").fill(kUrl);
  for (const wrong of ["ten", "-1", "1.5", "1441", "99999999"]) {
    await page.getByLabel("Only what lasts for").fill(wrong);
    await page.keyboard.press("Enter");
    await page.getByText("0 to 1440 minutes").waitFor();
  }
  await page.getByLabel("Only what lasts for").fill("10");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Done" }).click();
  assert.equal(service.alerts.webhooks[0].after_seconds, 600);
  assert.match(await page.locator(".alert-hook").textContent(), /findings that last 10 m 00 s · since/);
  const now = Date.now() * 1000;
  service.alerts.answers = null; // nothing is sent
  service.alerts.deliver("2", "1", { event: "rule.issues_found", job: "bert", due_us: now + 480e6 });
  service.alerts.deliver("1", "1", { event: "rule.issues_found", job: "bert", state: "withdrawn", created_us: now - 900e6, due_us: now - 300e6 });
  await page.reload();
  const rows = log().locator("tbody tr");
  await rows.nth(1).waitFor();
  assert.match(await rows.first().textContent(), /Not sent it, or its job, was over before it had lasted 10 m 00 s$/);
  assert.match(await rows.nth(1).textContent(), /Waits sent in (8 m 00 s|7 m 5\d s) if it lasts so long$/);
  assert.deepEqual(await axeViolations(page), []);
  await page.getByRole("checkbox", { name: /rule\.issues_found/ }).uncheck();
  assert.equal(await page.getByLabel("Only what lasts for").count(), 0, "no finding is asked for");
});

test("what a webhook is told is changed by keyboard; its address and what nobody touched stay", async () => {
  service.alerts.webhooks = [{ id: "1", url: kUrl, events: ["rule.issues_found:IdleGPU", "job.failed"], after_seconds: 90, enabled: true, note: "", created: "", created_us: Date.now() * 1000 }];
  await open();
  await page.getByRole("button", { name: `Edit ${kUrl}` }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "What this webhook is told" });
  assert.equal(await dialog.getByLabel("Of these rules only").inputValue(), "IdleGPU");
  assert.equal(await dialog.getByLabel("Only what lasts for").inputValue(), "1.5");
  assert.equal(await dialog.getByRole("checkbox", { name: /job\.failed/ }).isChecked(), true);
  assert.equal(await dialog.getByRole("checkbox", { name: /job\.stalled/ }).isChecked(), false);
  await dialog.getByRole("checkbox", { name: /job\.stalled/ }).press("Space");
  await dialog.getByLabel("Of these rules only").fill("IdleGPU Straggler");
  assert.deepEqual(await axeViolations(page), []);
  await page.keyboard.press("Enter");
  await page.getByText("rule.issues_found of IdleGPU, Straggler · job.failed · job.stalled").waitFor();
  assert.equal(service.alerts.webhooks[0].after_seconds, 90, "seconds that are no whole minutes stay");
  await page.getByRole("button", { name: `Edit ${kUrl}` }).press("Enter");
  for (const name of ["rule.issues_found", "job.failed", "job.stalled"]) await dialog.getByRole("checkbox", { name: new RegExp(name) }).uncheck();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("Choose at least one event.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Discard" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal(service.alerts.webhooks[0].events.length, 4);
});

test("saving without a change keeps what the fields cannot show", async () => {
  const events = ["rule.issues_found:IdleGPU", "rule.cleared:Straggler"];
  service.alerts.webhooks = [{ id: "1", url: kUrl, events, after_seconds: 0, enabled: true, note: "", created: "", created_us: Date.now() * 1000 }];
  await open();
  await page.getByRole("button", { name: `Edit ${kUrl}` }).click();
  const dialog = page.getByRole("dialog", { name: "What this webhook is told" });
  await dialog.getByText("Its events name different rules").waitFor();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(service.alerts.webhooks[0].events, events);
});

test("a time to last is changed alone: the webhook is still told of all events", async () => {
  service.alerts.webhooks = [{ id: "1", url: kUrl, events: [], after_seconds: 0, enabled: true, note: "", created: "", created_us: Date.now() * 1000 }];
  await open();
  await page.getByRole("button", { name: `Edit ${kUrl}` }).click();
  const dialog = page.getByRole("dialog", { name: "What this webhook is told" });
  await dialog.getByLabel("Only what lasts for").fill("10");
  await page.keyboard.press("Enter");
  await page.getByText("all events · findings that last 10 m 00 s").waitFor();
  assert.deepEqual(service.alerts.webhooks[0].events, []);
});

test("a webhook is switched off and on again", async () => {
  service.alerts.webhooks = [{ id: "1", url: kUrl, events: [], after_seconds: 0, enabled: false, note: "the receiver answered 410", created: "", created_us: Date.now() * 1000 }];
  await open();
  await page.getByRole("button", { name: `Switch on ${kUrl}` }).press("Enter");
  await page.getByText("It is told of what happens from now on.").waitFor();
  assert.equal(service.alerts.webhooks[0].enabled, true);
  await page.getByRole("button", { name: `Switch off ${kUrl}` }).press("Enter");
  await page.getByText("Switched off", { exact: true }).waitFor();
  assert.equal(service.alerts.webhooks[0].enabled, false);
  assert.deepEqual(await axeViolations(page), []);
});

test("deleting asks once more", async () => {
  service.alerts.webhooks = [{ id: "1", url: kUrl, events: ["job.failed"], after_seconds: 0, enabled: false, note: "the receiver answered 410", created: "", created_us: Date.now() * 1000 }];
  await open();
  assert.match(await page.locator(".alert-hook").textContent(), /Switched off\(the receiver answered 410\)/);
  await page.getByRole("button", { name: `Delete ${kUrl}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("None yet.").waitFor();
  assert.equal(service.alerts.webhooks.length, 0);
});

test("a reader is told that alerts are for operators, and has no link to them", async () => {
  page.expected.push(/status of (401|403)/);
  service.access.demand({ st_one: { name: "anna", role: "reader" } });
  await page.goto(`${service.url}/alerts`);
  await page.locator("#token").fill("st_one");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Alerts are for operators" }).waitFor();
  assert.equal(await page.locator(".bar nav").getByRole("link", { name: "Alerts" }).count(), 0);
});

test("the log is filtered by job and by webhook, by the link", async () => {
  service.alerts.webhooks = ["1", "2"].map((id) => ({ id, url: `${kUrl}/${id}`, events: [], after_seconds: 0, enabled: true, note: "", created: "", created_us: Date.now() * 1000 }));
  service.alerts.deliver("1", "1", { event: "job.failed", job: "bert", state: "delivered" });
  service.alerts.deliver("2", "2", { event: "job.failed", job: "mlp", state: "delivered" });
  await open();
  await page.getByText("2 messages, the newest first").waitFor();
  await page.getByLabel("Job", { exact: true }).fill("bert");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/alerts\?job=bert$/);
  await page.getByText("1 message, the newest first").waitFor();
  assert.match(await log().textContent(), /bert/);
  await page.locator(".filters select").selectOption("2");
  await page.waitForURL(/\/alerts\?job=bert&webhook=2$/);
  await page.getByText("No message of these was sent").waitFor();
  await page.reload();
  await page.getByText("No message of these was sent").waitFor();
  assert.equal(await page.getByLabel("Job", { exact: true }).inputValue(), "bert");
  assert.deepEqual(await axeViolations(page), []);
});

test("what was typed for a new webhook is kept while other pages are read, and a closed tab asks", async () => {
  await open();
  await page.getByLabel("Address").fill(kUrl);
  await page.getByRole("checkbox", { name: /job\.stalled/ }).uncheck();
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await page.getByRole("link", { name: "Alerts", exact: true }).click();
  assert.equal(await page.getByLabel("Address").inputValue(), kUrl);
  assert.equal(await page.getByRole("checkbox", { name: /job\.stalled/ }).isChecked(), false);
  const asks = () => page.evaluate(() => !window.dispatchEvent(new Event("beforeunload", { cancelable: true })));
  assert.equal(await asks(), true);
  await page.getByLabel("Address").press("Enter");
  await page.getByRole("button", { name: "Done" }).click();
  assert.equal(await page.getByLabel("Address").inputValue(), "");
  assert.equal(await page.getByRole("checkbox", { name: /job\.stalled/ }).isChecked(), true);
  assert.equal(await asks(), false);
});

test("changes of a webhook that are not saved are asked about, and kept where the page was left", async () => {
  service.alerts.webhooks = [{ id: "1", url: kUrl, events: ["job.failed"], after_seconds: 0, enabled: true, note: "", created: "", created_us: Date.now() * 1000 }];
  await page.goto(`${service.url}/settings`);
  await page.getByRole("link", { name: "Alerts", exact: true }).click();
  const dialog = page.getByRole("dialog");
  const edit = () => page.getByRole("button", { name: `Edit ${kUrl}` }).press("Enter");
  const stalled = dialog.getByRole("checkbox", { name: /job\.stalled/ });
  await edit();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  for (const way of ["Escape", "Cancel"]) {
    await edit();
    await stalled.check();
    await (way === "Escape" ? page.keyboard.press("Escape") : dialog.getByRole("button", { name: "Cancel" }).click());
    await dialog.getByText("Your changes are not saved.").waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Keep editing");
    assert.deepEqual(await axeViolations(page), []);
    await page.keyboard.press("Enter");
    assert.equal(await stalled.isChecked(), true);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.getByRole("button", { name: "Discard" }).click();
    await dialog.waitFor({ state: "detached" });
  }
  await edit();
  assert.equal(await stalled.isChecked(), false, "what was discarded is gone");
  await stalled.check();
  await page.goBack();
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await page.goForward();
  await edit();
  assert.equal(await stalled.isChecked(), true);
  await dialog.getByText("These are the changes that you began; they are not saved.").waitFor();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(service.alerts.webhooks[0].events, ["job.failed", "job.stalled"]);
});

test("Back leads to the message of the log that was left", async () => {
  page.expected.push(/status of 404/); // the job has no page here
  service.alerts.webhooks = [{ id: "1", url: kUrl, events: [], after_seconds: 0, enabled: true, note: "", created: "", created_us: Date.now() * 1000 }];
  for (let i = 0; i < 30; i += 1) service.alerts.deliver(`${i}`, "1", { event: "job.failed", job: "mlp-demo" });
  await open();
  const link = log().getByRole("link").last();
  await link.scrollIntoViewIfNeeded();
  await link.focus();
  const spot = () => page.evaluate(() => [Math.round(scrollY), [...document.querySelectorAll("main a")].indexOf(document.activeElement)]);
  const left = await spot();
  assert.ok(left[0] > 500 && left[1] >= 29);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/jobs\/mlp-demo/);
  await page.goBack();
  await page.waitForFunction(([y, at]) => Math.abs(scrollY - y) < 2 && [...document.querySelectorAll("main a")].indexOf(document.activeElement) === at, left);
});
