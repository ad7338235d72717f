import { count, duration, plural, share } from "../../format";
import type { Annotation, RankSteps } from "../../model";
import { valueOf } from "../../query";
import { search, setKeys } from "../../router";
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

/** Names of annotations whose histograms are drawn large: key `h` of the link. */
const namesShown = (): readonly string[] => valueOf(search.value, "h").split(",").filter((name) => name !== "");

function toggle(name: string): void {
  const shown = namesShown();
  setKeys({ h: (shown.includes(name) ? shown.filter((each) => each !== name) : [...shown, name]).join(",") || null }, true);
}

/** One annotation's distribution, as large as the histogram of the steps. */
function Large({ row }: { readonly row: Annotation }) {
  const bars = barsOf(row.histogram);
  const most = bars.reduce((a, b) => (b.count > a.count ? b : a), bars[0] ?? { from: 0, to: 0, count: 0 });
  const words = `${plural(row.count, "time")}; most often ${rangeOf(most)}, ${count(most.count)} of them; mean ${duration(row.mean_seconds)}, the longest ${duration(row.max_seconds)}.`;
  return (
    <section class="card chart" aria-labelledby={`annotation-${row.name}`}>
      <div class="chart-head">
        <h3 id={`annotation-${row.name}`}>{row.name}</h3>
        <span class="chart-note">how often it took how long; bars are of one relative width</span>
        <span class="chart-menu">
          <button type="button" onClick={() => toggle(row.name)}>
            Close<span class="unseen"> {row.name}</span>
          </button>
        </span>
      </div>
      <svg class="bars" width="100%" height="120" role="img" aria-label={words}>
        {bars.map((bar, i) => {
          const rise = bar.count === 0 ? 0 : Math.max(2, (116 * bar.count) / most.count);
          return (
            <g key={i}>
              <title>{`${rangeOf(bar)}: ${plural(bar.count, "time")}`}</title>
              <rect class="bars-bar" x={part(i, bars.length)} width={part(1, bars.length)} y={118 - rise} height={rise} />
            </g>
          );
        })}
        <line x1="0" x2="100%" y1="118.5" y2="118.5" />
      </svg>
      <p class="heat-axis" aria-hidden="true">
        <span>{duration(bars[0]?.from)}</span>
        <span>{duration(bars[bars.length - 1]?.to)}</span>
      </p>
      <p class="summary">{words}</p>
    </section>
  );
}

function Row({ row, stepSeconds, shown }: { readonly row: Annotation; readonly stepSeconds: number; readonly shown: boolean }) {
  return (
    <tr>
      <th scope="row">{row.name}</th>
      <td data-label="Count">{count(row.count)}</td>
      <td data-label="Total">{duration(row.total_seconds)}</td>
      <td data-label="Of step time">{share(stepSeconds > 0 ? row.total_seconds / stepSeconds : null)}</td>
      <td data-label="Min">{duration(row.min_seconds)}</td>
      <td data-label="Mean">{duration(row.mean_seconds)}</td>
      <td data-label="Max">{duration(row.max_seconds)}</td>
      <td data-label="Shortest to longest"><Spread bars={barsOf(row.histogram)} name={row.name} /></td>
      <td>
        <button type="button" aria-pressed={shown} disabled={row.name.includes(",")} onClick={() => toggle(row.name)}>
          Large<span class="unseen"> histogram of {row.name}</span>
        </button>
      </td>
    </tr>
  );
}

const kHeads = ["Name", "Count", "Total", "Of step time", "Min", "Mean", "Max", "Shortest to longest", "Histogram"];

export function Annotations({ found }: { readonly found: RankSteps }) {
  const rows = [...found.annotations].sort((a, b) => b.total_seconds - a.total_seconds);
  const shown = namesShown();
  const large = rows.filter(({ name }) => shown.includes(name));
  const stepSeconds = found.steps * (found.wall_seconds?.mean ?? 0);
  const note = rows.length > kMost ? `the ${kMost} longest of ${plural(rows.length, "name")}` : "whole job";
  return (
    <>
    <section class="card facts annotations" aria-labelledby="annotations-title">
      <div class="section-head">
        <h2 id="annotations-title">Annotations</h2>
        <p>{`rank ${found.rank}, ${note}`}</p>
      </div>
      <div class="scroll row-cards" tabIndex={0} role="region" aria-label="Annotations as a table">
        <table>
          <thead>
            <tr>{kHeads.map((head) => <th key={head} scope="col">{head}</th>)}</tr>
          </thead>
          <tbody>{rows.slice(0, kMost).map((row) => <Row key={row.name} row={row} stepSeconds={stepSeconds} shown={shown.includes(row.name)} />)}</tbody>
        </table>
      </div>
    </section>
    {large.map((row) => <Large key={row.name} row={row} />)}
    </>
  );
}
