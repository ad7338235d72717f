import { share } from "../format";
import type { Cause, Diagnosis as Found } from "../model";

// The diagnosis says where the time went, and comes before everything else: a sentence, a bar for each cause, and advice.

const kMostRows = 6;
const width = (part: number) => `${(100 * part).toFixed(2)}%`;

const wordsOf = (row: Cause) => (row.cause === "busy" ? "Computing" : row.words.charAt(0).toUpperCase() + row.words.slice(1));

function Row({ row }: { readonly row: Cause }) {
  return (
    <li>
      <span>{wordsOf(row)}</span>
      <svg width="100%" height="12" aria-hidden="true">
        <rect class="budget-all" width="100%" height="12" />
        <rect class={row.cause === "busy" ? "budget-busy" : "budget-lost"} width={width(row.share)} height="12" />
      </svg>
      <b>{share(row.share)}</b>
    </li>
  );
}

function Advice({ row }: { readonly row: Cause }) {
  const gain = row.speed_up === null ? "" : ` Without this time the job would be up to ${row.speed_up.toFixed(1)} times as fast.`;
  return (
    <p>
      <b>{wordsOf(row)}</b>: {row.advice}
      {gain}
    </p>
  );
}

/** By whose clock the time was divided, and how much of the steps is told by name. */
export function groundOf({ clock, unit, named_share }: Found): string {
  const whose = unit === "gpu_seconds" ? "Idle time of the GPUs is measured by" : "Measured by";
  const clocks = { gpu: "the GPU’s own clock", host: "the host’s clock" };
  const sentences = [clock ? `${whose} ${clocks[clock]}.` : "", named_share === null || named_share === undefined ? "" : `Phases with a name cover ${share(named_share)} of the step time.`];
  return sentences.filter(Boolean).join(" ");
}

function Missing({ sentences }: { readonly sentences: readonly string[] }) {
  if (sentences.length === 0) return null;
  return (
    <>
      <h3>What is not seen</h3>
      <ul class="missing">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </>
  );
}

export function Diagnosis({ found, running }: { readonly found: Found; readonly running: boolean }) {
  const ground = groundOf(found);
  const named = found.budget.filter((row) => row.cause !== "busy" && 100 * row.share > found.threshold);
  return (
    <section class="card diagnosis" aria-labelledby="diagnosis-title">
      <div class="section-head">
        <h2 id="diagnosis-title">Where the time went</h2>
        <p>{[running ? "so far" : "", found.confidence === "host only" ? "seen from the hosts only" : "by the phases of the steps"].filter(Boolean).join(" · ")}</p>
      </div>
      <p class="diagnosis-sentence">{found.sentence}</p>
      {ground === "" ? null : <p class="faint">{ground}</p>}
      <ul class="budget">
        {found.budget.slice(0, kMostRows).map((row) => (
          <Row key={row.cause} row={row} />
        ))}
      </ul>
      {named.slice(0, 2).map((row) => (row.advice ? <Advice key={row.cause} row={row} /> : null))}
      <Missing sentences={found.missing ?? []} />
    </section>
  );
}
