import { signal } from "@preact/signals";

// The jobs that are ticked to be compared: two at most, the third takes the place of the first.

const kMost = 2;

/** The names of the ticked jobs, in the order in which they were ticked. */
export const ticked = signal<readonly string[]>([]);

/** The ticked jobs after one more click. */
export function toggled(before: readonly string[], name: string): readonly string[] {
  return before.includes(name) ? before.filter((each) => each !== name) : [...before, name].slice(-kMost);
}

export function Tick({ name }: { readonly name: string }) {
  return (
    <input
      type="checkbox"
      class="job-tick"
      aria-label={`Compare ${name}`}
      checked={ticked.value.includes(name)}
      onChange={() => (ticked.value = toggled(ticked.peek(), name))}
    />
  );
}

/** The link to the comparison, once two jobs are ticked. */
export function CompareTicked() {
  const [a, b] = ticked.value;
  if (a === undefined) return null;
  if (b === undefined) return <span class="faint">Tick a second job to compare it with {a}</span>;
  return (
    <a class="button" href={`/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`}>
      Compare {a} with {b}
    </a>
  );
}
