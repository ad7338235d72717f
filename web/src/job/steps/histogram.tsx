import { useSignal } from "@preact/signals";
import { count, duration, percent, plural } from "../../format";
import type { Distribution, RankSteps } from "../../model";
import { saveText } from "../save_text";
import { type Bar, Bars } from "./bars";

// The histogram of step time: bars of equal width up to the 99th percentile, and one for all slower steps.

export interface HistogramProps {
  readonly found: RankSteps;
  readonly job: string;
}

export function barsOf({ edges_seconds: edges, counts }: Distribution): readonly Bar[] {
  return counts.map((many, i) => ({ from: edges[i] ?? 0, to: edges[i + 1] ?? 0, count: many }));
}

export const rangeOf = ({ from, to }: Bar) => (from === to ? duration(from) : `${duration(from)} to ${duration(to)}`);

/** The last bar reaches further than the others when there are outliers. */
function tailOf(bars: readonly Bar[]): Bar | null {
  const [first, last] = [bars[0], bars[bars.length - 1]];
  if (!first || !last || bars.length < 2) return null;
  return last.to - last.from > 1.5 * (first.to - first.from) ? last : null;
}

function sentenceOf(found: RankSteps, bars: readonly Bar[]): string {
  const most = bars.reduce((a, b) => (b.count > a.count ? b : a), bars[0] ?? { from: 0, to: 0, count: 0 });
  const wall = found.wall_seconds;
  const often = `${percent((100 * most.count) / Math.max(1, found.steps))} of ${plural(found.steps, "step")} took ${rangeOf(most)}`;
  return `${often}; half took at most ${duration(wall?.p50)}, 99 % at most ${duration(wall?.p99)}, the longest ${duration(wall?.max)}.`;
}

function saveCsv({ job }: HistogramProps, bars: readonly Bar[]): void {
  const lines = bars.map(({ from, to, count: many }) => `${from},${to},${many}`);
  saveText(`${job}-histogram.csv`, `${["from (s),to (s),steps", ...lines].join("\n")}\n`);
}

function Table({ bars }: { readonly bars: readonly Bar[] }) {
  return (
    <div class="chart-table" tabIndex={0} role="region" aria-label="Histogram of step time as a table">
      <table>
        <caption>How many steps took how long</caption>
        <thead>
          <tr>
            <th scope="col">Step time</th>
            <th scope="col">Steps</th>
          </tr>
        </thead>
        <tbody>
          {bars.map((bar, i) => (
            <tr key={i}>
              <th scope="row">{rangeOf(bar)}</th>
              <td>{count(bar.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Histogram(props: HistogramProps) {
  const { found } = props;
  const table = useSignal(false);
  const bars = barsOf(found.histogram);
  const tail = tailOf(bars);
  const body = tail === null ? bars : bars.slice(0, -1);
  const sentence = sentenceOf(found, bars);
  const wall = found.wall_seconds;
  return (
    <section class="card chart" aria-labelledby="chart-histogram">
      <div class="chart-head">
        <h3 id="chart-histogram">Histogram of step time</h3>
        <span class="chart-note">{`rank ${found.rank}, how many steps took how long`}</span>
        <span class="chart-menu">
          <button type="button" aria-pressed={table.value} onClick={() => (table.value = !table.value)}>
            Table<span class="unseen"> of Histogram of step time</span>
          </button>
          <button type="button" onClick={() => saveCsv(props, bars)}>
            CSV<span class="unseen"> of Histogram of step time</span>
          </button>
        </span>
      </div>
      {table.value ? (
        <Table bars={bars} />
      ) : (
        <>
          <p class="legend">
            <span class="legend-value">{`highest bar ${plural(Math.max(...bars.map((bar) => bar.count)), "step")}`}</span>
          </p>
          <Bars
            bars={body}
            tail={tail}
            height={168}
            words={sentence}
            marks={wall === null ? [] : [["p50", wall.p50], ["p95", wall.p95], ["p99", wall.p99]]}
          />
        </>
      )}
      <p class="summary">{sentence}</p>
    </section>
  );
}
