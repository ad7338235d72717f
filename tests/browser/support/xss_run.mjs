import assert from "node:assert/strict";
import { kXss, poison, violations } from "./xss.mjs";

// A run shows a page the whole corpus: answer number n puts text n + i into its field number i, so
// that in a full run every field gets every text.

export class XssRun {
  round = 0;
  series = []; // the series of the last answer that were not folded
  placed = []; // [path of keys, text] of every field that was filled since the last go()

  static async open(service, page) {
    const run = new XssRun();
    run.service = service;
    run.page = page;
    await run.page.addInitScript(() => {
      window.hits = [];
      window.hit = (what) => window.hits.push(`ran ${what}`);
    });
    return run;
  }

  /** The text of this round, or one `more` further. */
  text(more = 0) {
    return kXss[(this.round + more) % kXss.length];
  }

  /** Calls `act` for each text, or for every `step`-th: where an answer has `step` fields or more, each text still comes into one of them. */
  async eachText(act, step = 1) {
    const by = process.env.STEPSCOPE_ALL_ROUNDS ? 1 : step;
    for (this.round = 0; this.round < kXss.length; this.round += by) await act(this.text(), this.text(1));
  }

  /** Rounds in which each answer has a list of `many`: number i of the list begins with text n + i. */
  async eachPage(many, act) {
    for (this.round = 0; this.round < kXss.length; this.round += many) await act();
  }

  fill(answer, from) {
    let field = from;
    const filled = poison(answer, (path) => {
      const text = kXss[field++ % kXss.length];
      this.placed.push([path, text]);
      return text;
    });
    if (filled.series?.every(({ of }) => of === undefined)) this.series = filled.series;
    return filled;
  }

  /** From now on the answers of these addresses are full of the corpus, but for what `keep` gives. */
  poisonAnswers(which, keep = () => ({})) {
    this.service.change = (url, body) => {
      if (body === null || !which.test(url.pathname)) return body;
      const list = Object.keys(body).find((key) => ["items", "tokens", "changes"].includes(key));
      if (list === undefined) return { ...this.fill(body, this.round), ...keep(body) };
      return { ...body, [list]: body[list].map((each, i) => this.fill(each, this.round + i)) };
    };
  }

  /** Goes on to an address without loading the page again. */
  async go(url) {
    this.placed = [];
    await this.page.evaluate((to) => {
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate"));
    }, url);
  }

  until(test, wanted) {
    return this.page.waitForFunction(test, wanted);
  }

  /** The texts that lie in these fields; each must have one. */
  textsOf(...fields) {
    return fields.flatMap((field) => {
      const found = this.placed.filter(([path]) => path === field).map(([, text]) => text);
      assert.ok(found.length > 0, `${field} was filled`);
      return found;
    });
  }

  async assertNoViolation(what = `round ${this.round}`) {
    const refused = await this.page.evaluate(() => window.noted.csp);
    assert.deepEqual([...(await this.page.evaluate(violations)), ...refused], [], what);
  }

  /** Nothing ran, nothing came in, and these texts are on the page as they were sent. */
  async assertShown(texts, what = `round ${this.round}`) {
    await this.assertNoViolation(what);
    const missing = await this.page.evaluate((wanted) => {
      const said = [...document.querySelectorAll("[title], [aria-label]")].flatMap((element) => [element.getAttribute("title"), element.ariaLabel]);
      const all = [document.body.textContent, ...said].join("\n");
      return wanted.filter((text) => !all.includes(text));
    }, texts);
    assert.deepEqual(missing, [], what);
  }
}
