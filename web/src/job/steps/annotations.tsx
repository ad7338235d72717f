import { count, duration, plural, share } from "../../format";
import type { Annotation, RankSteps } from "../../model";
import type { Bar } from "./bars";
import { barsOf, rangeOf } from "./histogram";

// The annotations of a rank: spans that its code named, with their number, duration and distribution over the whole job.

const kMost = 50;

const part = (at: number, all: number) => `${((100 * at) / all).toFixed(2)}%`;

/** The distribution of an annotation's durations. Bins of one relative width are drawn equally wide, so that a long tail stays readable. */
function Spread({ bars, name }: { readonly bars: readonly Bar[]; readonly name: string }) {
  if (bars.length === 0) return <>–</>;
  const most = bars.reduce((a, b) => (b.count > a.count ? b : a));
  const words = `${name}: most often ${rangeOf(most)}, ${count(most.count)} of ${plural(bars.reduce((all, bar) => all + bar.count, 0), "time")}`;
  const rise = (bar: Bar) => (bar.count === 0 ? 0 : Math.max(2, (26 * bar.count) / most.count));
  return (
    <svg class="bars spread" width="100%" height="28" role="img" aria-label={words}>
      <title>{words}</title>
      {bars.map((bar, i) => (
        <rect key={i} class="bars-bar" x={part(i, bars.length)} width={part(1, bars.length)} y={27 - rise(bar)} height={rise(bar)} />
      ))}
      <line x1="0" x2="100%" y1="27.5" y2="27.5" />
    </svg>
  );
}

function Row({ row, stepSeconds }: { readonly row: Annotation; readonly stepSeconds: number }) {
  return (
    <tr>
      <th scope="row">{row.name}</th>
      <td>{count(row.count)}</td>
      <td>{duration(row.total_seconds)}</td>
      <td>{share(stepSeconds > 0 ? row.total_seconds / stepSeconds : null)}</td>
      <td>{duration(row.min_seconds)}</td>
      <td>{duration(row.mean_seconds)}</td>
      <td>{duration(row.max_seconds)}</td>
      <td><Spread bars={barsOf(row.histogram)} name={row.name} /></td>
    </tr>
  );
}

const kHeads = ["Name", "Count", "Total", "Of step time", "Min", "Mean", "Max", "Shortest to longest"];

export function Annotations({ found }: { readonly found: RankSteps }) {
  const rows = [...found.annotations].sort((a, b) => b.total_seconds - a.total_seconds);
  const stepSeconds = found.steps * (found.wall_seconds?.mean ?? 0);
  const note = rows.length > kMost ? `the ${kMost} longest of ${plural(rows.length, "name")}` : "whole job";
  return (
    <section class="card facts annotations" aria-labelledby="annotations-title">
      <div class="section-head">
        <h2 id="annotations-title">Annotations</h2>
        <p>{`rank ${found.rank}, ${note}`}</p>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Annotations as a table">
        <table>
          <thead>
            <tr>{kHeads.map((head) => <th key={head} scope="col">{head}</th>)}</tr>
          </thead>
          <tbody>{rows.slice(0, kMost).map((row) => <Row key={row.name} row={row} stepSeconds={stepSeconds} />)}</tbody>
        </table>
      </div>
    </section>
  );
}
