import assert from "node:assert/strict";
import { test } from "node:test";
import { asParameters, asTime, inWords, isFiltered, listKey } from "../src/jobs/filters";
import { merge } from "../src/jobs/list";
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

test("a job that left the list stays on screen until the list is asked for anew", () => {
  assert.deepEqual(merge(page(item("b"), item("a")), page(item("b"))).page.items.length, 2);
});
