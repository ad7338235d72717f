import { signal } from "@preact/signals";

// The jobs that are ticked to be compared: two at most, the third takes the place of the first.

const kMost = 2;

/** The names of the ticked jobs, in the order in which they were ticked. */
export const ticked = signal<readonly string[]>([]);

/** The ticked jobs after one more click. */
export function toggled(before: readonly string[], name: string): readonly string[] {
  return before.includes(name) ? before.filter((each) => each !== name) : [...before, name].slice(-kMost);
}

/** Space on a row's link ticks its job, as in other lists; the page does not scroll. */
export function onRowKey(name: string, event: KeyboardEvent): void {
  if (event.key !== " " || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (!event.repeat) ticked.value = toggled(ticked.peek(), name);
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

/** The link to the comparison, once two jobs are ticked. What is ticked is announced, as the focus stays on its row. */
export function CompareTicked() {
  const [a, b] = ticked.value;
  return (
    <>
      <span class="unseen" role="status">
        {a === undefined ? "" : `Ticked: ${ticked.value.join(", ")}`}
      </span>
      {a === undefined ? null : b === undefined ? (
        <span class="faint">Tick a second job to compare it with {a}</span>
      ) : (
        <a class="button" href={`/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`}>
          Compare {a} with {b}
        </a>
      )}
    </>
  );
}
