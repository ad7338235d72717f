import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { describeJob, listJobs } from "../api";
import { valueOf } from "../query";
import { search, setKeys } from "../router";
import { tableAddress } from "./calls";
import { runBefore } from "./words";

// The two jobs of the comparison: typed, turned around, or the run before of the same group.

function Field({ side, word, names }: { readonly side: "a" | "b"; readonly word: string; readonly names: readonly string[] }) {
  const value = valueOf(search.value, side);
  return (
    <label>
      <span>{word}</span>
      <input key={value} list="job-names" defaultValue={value} maxLength={63} autocomplete="off" spellcheck={false} placeholder="name of a job"
        onChange={(event) => setKeys({ [side]: event.currentTarget.value.trim() })} />
      <datalist id="job-names">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}

/** With one job named, the other one becomes the run before of its group. */
async function fillBefore(name: string, stop: AbortSignal): Promise<string> {
  const job = await describeJob(name, stop);
  if (!job.group) return `${name} belongs to no group, so there is no run before it: choose a job.`;
  const { items } = await listJobs({ group: job.group, created_before: new Date(job.created_us / 1000).toISOString(), limit: 20 }, stop);
  const before = runBefore(items, name);
  if (before === null) return `${name} is the first run of the group ${job.group}: choose a job.`;
  setKeys({ a: before, b: name }, true);
  return "";
}

export function Choose() {
  const names = useSignal<readonly string[]>([]);
  const said = useSignal("");
  const [a, b] = [valueOf(search.value, "a"), valueOf(search.value, "b")];
  useEffect(() => {
    const stop = new AbortController();
    listJobs({ limit: 200 }, stop.signal).then(({ items }) => (names.value = items.map(({ name }) => name)), () => {});
    return () => stop.abort();
  }, []);
  useEffect(() => {
    said.value = "";
    if (a !== "" || b === "") return undefined;
    const stop = new AbortController();
    fillBefore(b, stop.signal).then((words) => (said.value = words), () => {});
    return () => stop.abort();
  }, [a, b]);
  return (
    <form class="filters" aria-label="Jobs to compare" onSubmit={(event) => event.preventDefault()}>
      <Field side="a" word="A" names={names.value} />
      <button type="button" disabled={a === "" || b === ""} onClick={() => setKeys({ a: b, b: a })} aria-label="Turn around">
        ⇄
      </button>
      <Field side="b" word="B" names={names.value} />
      {a === "" || b === "" ? null : (
        <a class="button" href={tableAddress(a, b)} download="compare.csv">
          CSV
        </a>
      )}
      <span role="status">{said.value}</span>
    </form>
  );
}
