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

export function Diagnosis({ found, running }: { readonly found: Found; readonly running: boolean }) {
  const named = found.budget.filter((row) => row.cause !== "busy" && 100 * row.share > found.threshold);
  return (
    <section class="card diagnosis" aria-labelledby="diagnosis-title">
      <div class="section-head">
        <h2 id="diagnosis-title">Where the time went</h2>
        <p>{[running ? "so far" : "", found.confidence === "host only" ? "seen from the hosts only" : "by the phases of the steps"].filter(Boolean).join(" · ")}</p>
      </div>
      <p class="diagnosis-sentence">{found.sentence}</p>
      <ul class="budget">
        {found.budget.slice(0, kMostRows).map((row) => (
          <Row key={row.cause} row={row} />
        ))}
      </ul>
      {named.slice(0, 2).map((row) => (row.advice ? <Advice key={row.cause} row={row} /> : null))}
    </section>
  );
}
