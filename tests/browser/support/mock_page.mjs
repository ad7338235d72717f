// The tests of a file share the scripted service and a browser; each test has a page.

import { after, afterEach, before, beforeEach } from "node:test";
import { assertClean, launch, openPage } from "./chromium.mjs";
import { MockService } from "./mock_service.mjs";

export const service = new MockService();
export let browser, page;

/** Service and browser live as long as the file; `prepare` makes the service what each test begins with. */
export function useService(prepare) {
  before(async () => {
    await service.start();
    browser = await launch();
  });
  after(async () => {
    await browser.close();
    await service.stop();
  });
  beforeEach(prepare);
}

/** Like useService, with a page for each test, which must leave it clean. */
export function usePage(prepare, options) {
  useService(prepare);
  beforeEach(async () => {
    page = await openPage(browser, options);
  });
  afterEach(async () => {
    await assertClean(page);
    await page.context().close();
  });
}
