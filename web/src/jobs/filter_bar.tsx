import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { listRules } from "../rule_types";
import { Icon } from "../icons";
import { valueOf, withKeys } from "../query";
import { search, setKeys } from "../router";
import { CsvButton } from "./csv";
import { kAnyRule, kSpans, kStatuses, kVerdicts, listKey } from "./filters";

const kTypingPauseMs = 150;

/** The first letter makes an entry for Back, the rest of the word changes it. */
function searchFor(text: string): void {
  const before = valueOf(search.peek(), "q");
  setKeys({ q: text, cursor: null }, before !== "" && text !== "");
}

function Search() {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef(0);
  const sent = useRef<string | null>(null); // the word of the link that came from this field
  useSignalEffect(() => {
    const wanted = valueOf(search.value, "q");
    if (wanted === sent.current) return;
    window.clearTimeout(timer.current); // the link has changed: what was typed before is of another one
    sent.current = wanted;
    if (field.current) field.current.value = wanted;
  });
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const type = (text: string) => {
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => searchFor((sent.current = text.trim())), kTypingPauseMs);
  };
  return (
    <label class="search">
      <span class="unseen">Name contains</span>
      <Icon name="search" />
      <input
        ref={field}
        id="search"
        type="search"
        placeholder="Name contains …"
        maxLength={63}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </label>
  );
}

function RuleFilter() {
  const rules = useSignal<readonly string[]>([]);
  useEffect(() => {
    const stopper = new AbortController();
    // Without the catalog "any rule" still works, and the list says when the service is away.
    listRules(stopper.signal).then((found) => (rules.value = found.map(({ name }) => name)), () => {});
    return () => stopper.abort();
  }, [rules]);
  const chosen = valueOf(search.value, "issue");
  const names = rules.value.includes(chosen) || ["", kAnyRule, ...Object.keys(kVerdicts)].includes(chosen) ? rules.value : [...rules.value, chosen];
  return (
    <label>
      <span>Issue</span>
      <select value={chosen} onChange={(event) => setKeys({ issue: event.currentTarget.value, cursor: null })}>
        <option value="">all jobs</option>
        {Object.entries(kVerdicts).map(([verdict, words]) => (
          <option key={verdict} value={verdict}>
            {words}
          </option>
        ))}
        <option value={kAnyRule}>any rule</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function StatusFilter() {
  const chosen = valueOf(search.value, "status");
  const known = chosen === "" || (kStatuses as readonly string[]).includes(chosen);
  return (
    <label>
      <span>Status</span>
      <select value={chosen} onChange={(event) => setKeys({ status: event.currentTarget.value, cursor: null })}>
        <option value="">all</option>
        {known ? null : <option value={chosen}>{chosen}</option>}
        {kStatuses.map((status) => (
          <option key={status} value={status}>
            {status}
          </option>
        ))}
      </select>
    </label>
  );
}

function Day({ label, name }: { readonly label: string; readonly name: "after" | "before" }) {
  const value = valueOf(search.value, name);
  return (
    <label>
      <span>{label}</span>
      <input
        type="date"
        value={/^\d{4}-\d\d-\d\d/.exec(value)?.[0] ?? ""}
        onChange={(event) => setKeys({ [name]: event.currentTarget.value, cursor: null })}
      />
    </label>
  );
}

const kBetween = "between";

function Created() {
  const after = valueOf(search.value, "after");
  const before = valueOf(search.value, "before");
  const open = useSignal(false);
  const isSpan = before === "" && kSpans.some(({ value }) => value === after);
  const between = !isSpan || open.value;
  const choose = (value: string) => {
    open.value = value === kBetween;
    if (value !== kBetween) setKeys({ after: value, before: null, cursor: null });
  };
  return (
    <>
      <label>
        <span>Created</span>
        <select value={between ? kBetween : after} onChange={(event) => choose(event.currentTarget.value)}>
          {kSpans.map(({ value, word }) => (
            <option key={value} value={value}>
              {word}
            </option>
          ))}
          <option value={kBetween}>between days (UTC)</option>
        </select>
      </label>
      {between ? <Day label="From" name="after" /> : null}
      {between ? <Day label="Until" name="before" /> : null}
    </>
  );
}

/** The group that the link names, and the way back to all. */
function Group() {
  const group = valueOf(search.value, "group");
  if (group === "") return null;
  return (
    <button type="button" class="chip" onClick={() => setKeys({ group: null, cursor: null })}>
      Group {group} <span aria-hidden="true">✕</span>
      <span class="unseen">: show all groups</span>
    </button>
  );
}

export function FilterBar({ total }: { readonly total: number | null }) {
  return (
    <form class="filters" role="search" aria-label="Jobs" onSubmit={(event) => event.preventDefault()}>
      <Search />
      <Group />
      <StatusFilter />
      <RuleFilter />
      <Created />
      <CsvButton key={listKey(withKeys(search.value, { cursor: null }))} total={total} />
    </form>
  );
}
