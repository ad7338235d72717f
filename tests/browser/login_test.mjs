import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { axeViolations } from "./support/chromium.mjs";
import { page, service, usePage } from "./support/mock_page.mjs";
import { sampleJob } from "./support/sample_jobs.mjs";

const kStart = Date.now() * 1000 - 3600e6;
const kTokens = {
  st_reader_anna: { name: "anna", role: "reader", scopes: ["mlp-*"] },
  st_admin_root: { name: "root", role: "admin" },
};

usePage(() => {
  service.reset([sampleJob({ name: "mlp-demo", startedUs: kStart, seconds: 120 })]);
  service.access.demand(kTokens);
});
beforeEach(() => page.expected.push(/status of 401/));

const field = () => page.getByLabel("Token", { exact: true });
const account = () => page.getByRole("button", { name: /^Signed in as/ });
async function signIn(token = "st_reader_anna") {
  await field().fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("without a session the page asks for a token, and says where one comes from", async () => {
  await page.goto(`${service.url}/jobs`);
  await field().waitFor();
  assert.deepEqual(await field().evaluate(({ type, autocomplete }) => [type, autocomplete]), ["password", "off"]);
  assert.match(await page.locator(".login").textContent(), /stepscope-server token create --role reader --name NAME/);
  assert.equal(await page.title(), "Sign in · Stepscope");
  assert.equal(await page.evaluate(() => document.activeElement.id), "token");
  assert.equal(await page.locator("nav a").count(), 0, "nothing is offered that would be refused");
});

test("signing in goes on where the person was", async () => {
  await page.goto(`${service.url}/jobs/mlp-demo?from=20000&to=40000`);
  await signIn();
  await page.locator(".plot canvas").first().waitFor();
  assert.match(page.url(), /\/jobs\/mlp-demo\?from=20000&to=40000$/);
  assert.match(await page.locator(".toolbar-span").textContent(), /^20 s to 40 s$/);
  assert.equal(await page.title(), "mlp-demo · Stepscope");
});

test("the token is in no address and nowhere in the browser's storage", async () => {
  await page.goto(`${service.url}/jobs`);
  await signIn();
  await page.locator(".job-link").waitFor();
  assert.deepEqual(service.calls(/st_reader/), []);
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state]));
  assert.doesNotMatch(kept, /st_reader/);
  assert.equal(await page.locator("#token").count(), 0);
});

test("name, role and jobs stand in the header, and Sign out leads out", async () => {
  await page.goto(`${service.url}/jobs`);
  await signIn();
  assert.equal(await account().textContent(), "anna reader");
  await account().click();
  assert.match(await page.locator("#account").textContent(), /Signed in as anna with the role reader, for the jobs mlp-\*, until \d{4}-/);
  assert.deepEqual(await axeViolations(page), []);
  await page.getByRole("button", { name: "Sign out" }).click();
  await field().waitFor();
  assert.equal(await page.locator(".job-link").count(), 0, "nothing of before is left on screen");
  assert.equal(await account().count(), 0);
  assert.ok(service.calls(/session/).length <= 3, "in and out, and who asks where that was no part of a batch");
});

test("whom a proxy has let in is not offered a way out that leads nowhere", async () => {
  service.access.demand({ st_reader_anna: { name: "anna", role: "reader", expires_us: null } });
  await page.goto(`${service.url}/jobs`);
  await signIn();
  await account().click();
  assert.match(await page.locator("#account").textContent(), /^Signed in as anna with the role reader, for all jobs\.$/);
});

test("a wrong token is refused in the service's words, and can be mended", async () => {
  await page.goto(`${service.url}/jobs`);
  await signIn("st_reader_wrong");
  const notice = page.locator("#login-fault");
  await notice.getByText(/A token is wanted: the token is not valid \(HTTP 401, request/).waitFor();
  await field().fill("st_reader_anna");
  await page.keyboard.press("Enter");
  await page.locator(".job-link").waitFor();
});

test("too many wrong tokens: the page counts the wait down, then lets the person try", async () => {
  await page.clock.install();
  page.expected.push(/status of 429/);
  await page.goto(`${service.url}/jobs`);
  await field().waitFor();
  service.fail(/session/, { status: 429, times: 1, words: ["Too many requests", "10 wrong tokens within a minute"], headers: { "retry-after": "42" } });
  await signIn("st_reader_wrong");
  await page.getByText("10 wrong tokens within a minute").waitFor();
  const button = page.getByRole("button", { name: /^Wait 4[23] s$/ });
  assert.equal(await button.isDisabled(), true);
  await page.clock.runFor(44_000);
  await signIn();
  await page.locator(".job-link").waitFor();
});

test("a service that is away is said in words", async () => {
  page.expected.push(/ERR_/);
  await page.goto(`${service.url}/jobs`);
  await field().waitFor();
  await page.route(/session/, (route) => route.abort("connectionrefused"), { times: 1 });
  await signIn();
  await page.getByText("The service cannot be reached.").waitFor();
});

test("a session that ends asks again, once, without calls in between", async () => {
  await page.clock.install();
  await page.goto(`${service.url}/jobs`);
  await signIn();
  await page.locator(".job-link").waitFor();
  service.access.endSessions();
  await page.clock.runFor(6000);
  await page.getByText("Your session has ended.").waitFor();
  const calls = service.requests.length;
  await page.clock.runFor(60_000);
  assert.equal(service.requests.length, calls);
  await signIn();
  await page.locator(".job-link").waitFor();
});

test("a refusal from before the sign-in does not end the session", async () => {
  service.fail(/session/, { status: 401, times: 1, delayMs: 1500, words: ["A token is wanted", "late"] });
  const asked = (request) => request.method() === "GET" && /session/.test(request.url());
  const over = Promise.race(["requestfinished", "requestfailed"].map((event) => page.waitForEvent(event, asked)));
  // The list comes late, so that the question who asks goes by itself.
  await page.route(/\/assets\/page-/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 600));
    return route.continue();
  });
  await page.goto(`${service.url}/jobs`);
  await signIn();
  await page.locator(".job-link").waitFor();
  await over;
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  assert.equal(await field().count(), 0);
  assert.equal(await page.locator(".job-link").count(), 1);
});

test("all tabs of a browser come in and go out together", async () => {
  const other = await page.context().newPage();
  await page.goto(`${service.url}/jobs`);
  await other.goto(`${service.url}/jobs/mlp-demo`);
  await other.locator("#token").waitFor();
  await signIn();
  await other.locator(".plot canvas").first().waitFor();
  await page.bringToFront();
  await account().click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await other.locator("#token").waitFor();
});

test("where nobody has to sign in, nothing of it is shown", async () => {
  service.reset(service.jobs);
  await page.goto(`${service.url}/jobs`);
  await page.getByRole("link", { name: "Tokens" }).waitFor();
  assert.equal(await account().count(), 0);
  assert.equal(await page.locator("#account").count(), 0);
});

test("only an admin is offered the tokens; others are told why not", async () => {
  page.expected.push(/status of 403/);
  await page.goto(`${service.url}/tokens`);
  await signIn();
  await page.getByRole("heading", { name: "Tokens are for admins" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Tokens" }).count(), 0);
  await account().click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn("st_admin_root");
  await page.getByRole("heading", { name: "New token" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Tokens" }).getAttribute("aria-current"), "page");
});

test("what a role may not see is said in words, and is not asked for again and again", async () => {
  page.expected.push(/status of 403/);
  await page.clock.install();
  service.fail(/\/api\/v1\/jobs/, { status: 403, words: ["Forbidden", "a token of the role agent may not read jobs"] });
  await page.goto(`${service.url}/jobs`);
  await signIn();
  const notice = page.locator(".notice");
  assert.match(await notice.textContent(), /The list of jobs could not be loaded\. Forbidden: a token of the role agent may not read jobs \(HTTP 403/);
  assert.doesNotMatch(await notice.textContent(), /Retrying/);
  const calls = service.calls(/jobs\?|jobs$/).length;
  await page.clock.runFor(60_000);
  assert.equal(service.calls(/jobs\?|jobs$/).length, calls);
});

test("the first start says how to send a job with a token", async () => {
  service.jobs = [];
  await page.goto(`${service.url}/jobs`);
  await signIn();
  assert.match(await page.locator(".empty").textContent(), /shows only the jobs mlp-\*.*--token-file agent\.token --job/s);
});
