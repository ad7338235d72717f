import { duration } from "../../format";
import type { Diagnosis, JobParts } from "../../model";

// The phases of the job, one after the other, as one bar with their lengths in words. Evaluations lie within the training.

const kParts: readonly (readonly [keyof JobParts, string, number])[] = [
  ["initialisation", "Initialisation", 1],
  ["training", "Training", 0],
  ["evaluation", "Evaluation", 3],
  ["finalisation", "Finalisation", 2],
];

export interface Part {
  readonly word: string;
  readonly tone: number;
  readonly seconds: number;
}

/** The phases to show; none while no step was seen. Time behind the newest step is finalisation only once the job has ended. */
export function shownParts(parts: JobParts | null | undefined, running: boolean): readonly Part[] {
  if (!parts || parts.training + parts.evaluation <= 0) return [];
  const all = kParts.map(([name, word, tone]) => ({ word, tone, seconds: running && name === "finalisation" ? 0 : parts[name] }));
  return all.filter(({ seconds }) => seconds > 0);
}

const part = (share: number) => `${(100 * share).toFixed(2)}%`;

export function Parts({ found, running }: { readonly found: Diagnosis | null; readonly running: boolean }) {
  const parts = shownParts(found?.parts, running);
  if (parts.length === 0) return running ? <div class="parts" /> : null; // its room
  const whole = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  let end = 0;
  const rects = parts.map(({ word, tone, seconds }) => {
    const from = end;
    end += seconds / whole;
    return <rect key={word} class={`part-${tone}`} x={part(from)} width={part(seconds / whole)} height="14" />;
  });
  const words = parts.map(({ word, seconds }) => `${word} ${duration(seconds)}`).join(", ");
  return (
    <section class="parts" aria-label="Phases of the job">
      <svg width="100%" height="14" role="img" aria-label={`${running ? "So far: " : ""}${words}`}>
        {rects}
      </svg>
      <ul class="legend">
        {parts.map(({ word, tone, seconds }) => (
          <li key={word}>
            <span class={`swatch swatch-area swatch-${tone}`} aria-hidden="true" />
            <span class="legend-label">{word}</span> <span class="legend-value">{duration(seconds)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
