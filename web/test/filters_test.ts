import assert from "node:assert/strict";
import { test } from "node:test";
import { asParameters, asTime, inWords, isFiltered, listKey } from "../src/jobs/filters";
import { merge, missing, type ShownPage } from "../src/jobs/list";
import type { JobItem, JobPage } from "../src/model";

const kNow = Date.UTC(2026, 10, 20, 20, 0, 0);

test("a span back from now, a day and a time become RFC 3339", () => {
  assert.equal(asTime("now-7d", kNow), "2026-11-13T20:00:00.000Z");
  assert.equal(asTime("2026-11-10", kNow), "2026-11-10T00:00:00.000Z");
  assert.equal(asTime("2026-11-10T12:00:00+02:00", kNow), "2026-11-10T10:00:00.000Z");
  for (const bad of ["", "tomorrow", "now-7y", "2026-13-45", "2026-11-10T99:00Z"]) assert.equal(asTime(bad, kNow), null);
});

test("the last day of a range counts as a whole", () => {
  assert.equal(asParameters("?before=2026-11-10", kNow)["created_before"], "2026-11-11T00:00:00.000Z");
});

test("today and yesterday are days of the reader's own zone", () => {
  const [today, yesterday] = [asTime("today", kNow), asTime("yesterday", kNow)].map((time) => new Date(time ?? ""));
  assert.deepEqual([today?.getHours(), today?.getMinutes(), yesterday?.getHours()], [0, 0, 0]);
  assert.ok((today?.getTime() ?? 0) <= kNow && kNow - (today?.getTime() ?? 0) < 25 * 3_600_000);
  const asked = asParameters("?after=yesterday", kNow);
  assert.deepEqual([asked["created_after"], asked["created_before"]], [yesterday?.toISOString(), today?.toISOString()]);
  assert.equal(inWords("?after=yesterday&group=nightly"), "the group “nightly”, created yesterday");
  assert.equal(asParameters("?group=nightly", kNow)["group"], "nightly");
});

test("any rule in trouble needs no rule name", () => {
  const any = asParameters("?issue=any", kNow);
  assert.deepEqual([any["rule"], any["rule_status"]], [null, "IssuesFound,Error"]);
  const one = asParameters("?issue=CPUBottleneck", kNow);
  assert.deepEqual([one["rule"], one["rule_status"]], ["CPUBottleneck", "IssuesFound,Error"]);
});

test("a verdict is asked for as such, and not as a rule", () => {
  const open = asParameters("?issue=unknown", kNow);
  assert.deepEqual([open["verdict"], open["rule"], open["rule_status"]], ["unknown", null, null]);
  assert.equal(asParameters("?issue=any", kNow)["verdict"], null);
  assert.equal(inWords("?issue=unknown"), "not judged");
});

test("filters are said in words", () => {
  assert.equal(inWords("?q=albef&status=Failed"), "a name with “albef”, status Failed");
  assert.equal(inWords("?issue=any&after=now-7d"), "a rule in trouble, created in the last 7 days");
});

test("time zone and sorting are no filters; the zone opens no new list", () => {
  assert.equal(isFiltered("?tz=local&sort=name"), false);
  assert.equal(listKey("?tz=local&q=a"), listKey("?q=a"));
});

const item = (name: string, status = "InProgress") => ({ name, status }) as JobItem;
const page = (...items: JobItem[]): JobPage => ({ items, next: null, total: items.length });

test("rows stay where they are; what is new is counted, not inserted", () => {
  const merged = merge(page(item("b"), item("a")), page(item("c"), item("b", "Completed"), item("a")));
  assert.deepEqual(merged.page.items.map(({ name, status }) => [name, status]), [["b", "Completed"], ["a", "InProgress"]]);
  assert.equal(merged.fresh, 1);
});

test("the number of jobs is the newest answer's", () => {
  assert.equal(merge(page(item("b"), item("a")), page(item("b"))).page.total, 1);
});

test("a job that left the list keeps its row, which says what became of it", () => {
  const running = { ...item("a"), ended_us: null };
  const shown = page(running, { ...item("b"), ended_us: null }, { ...item("c"), ended_us: null });
  const failed = { ...running, status: "Failed" as const, ended_us: 1 };
  const found = new Map([["a", failed], ["b", null]]);
  const { page: merged } = merge(shown, page(), found, "?status=InProgress");
  assert.deepEqual(merged.items.map(({ status, left }) => [status, left]), [["Failed", "changed"], ["InProgress", "deleted"], ["InProgress", undefined]]);
  assert.equal(merge(shown, page(), new Map([["a", failed]])).page.items[0]?.left, undefined, "without a filter it is only on another page");
  assert.equal(merge(merged, page(running), new Map(), "?status=InProgress").page.items[0]?.left, undefined, "it came back");
});

test("jobs that may have changed are read by name in turn, one that ended once, one that was deleted no more", () => {
  const rows = Array.from({ length: 10 }, (_, i) => ({ ...item(`job-${i}`), ended_us: i === 9 ? 1 : null }));
  const names = (rounds: ReadonlyMap<string, number>) => missing(page(...rows), page(item("job-0")), rounds).map(({ name }) => name);
  assert.deepEqual(names(new Map()), ["job-1", "job-2", "job-3", "job-4", "job-5", "job-6", "job-7", "job-8"]);
  const rounds = new Map(["job-1", "job-2", "job-3", "job-4", "job-5", "job-6", "job-7", "job-9"].map((name) => [name, 1]));
  assert.deepEqual(names(rounds), ["job-8", "job-1", "job-2", "job-3", "job-4", "job-5", "job-6", "job-7"]);
  const gone: ShownPage = { ...page(), items: [{ ...item("x"), left: "deleted" }] };
  assert.deepEqual(missing(gone, page(), new Map()), []);
});
