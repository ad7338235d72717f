import assert from "node:assert/strict";
import { test } from "node:test";
import { page, service, usePage } from "./support/mock_page.mjs";

usePage(() => service.reset());

const card = () => page.locator("section", { has: page.locator("#service-title") });

test("a service that is away is not said to be ready, but since when it has not answered", async () => {
  page.expected.push(/ERR_/);
  await page.clock.install();
  await page.goto(`${service.url}/settings?tz=local`);
  await card().getByText("Ready", { exact: true }).waitFor();
  await page.route(/readyz/, (route) => route.abort("connectionrefused"));
  await page.clock.runFor(15_000);
  await page.getByText("The service cannot be reached").waitFor();
  assert.match(await card().textContent(), /^The serviceNot known It has not answered since \d\d:\d\d:\d\d local, \d+ s ago\.$/);
  assert.equal(await card().locator(".tone-green").count(), 0);
  await page.unroute(/readyz/);
  await page.getByRole("button", { name: "Retry now" }).click();
  await page.clock.runFor(1000);
  await card().getByText("Ready", { exact: true }).waitFor();
});
