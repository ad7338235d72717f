import { duration } from "../../format";

// Bars of a histogram as SVG in parts of its width, so that it fits any place without being measured.

export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export interface BarsProps {
  readonly bars: readonly Bar[];
  /** The values too far away for the same scale, as one bar behind the others. */
  readonly tail: Bar | null;
  readonly height: number;
  readonly words: string;
  readonly marks: readonly (readonly [string, number | null])[];
}

const kAxis = 22;
const part = (share: number) => `${(100 * share).toFixed(3)}%`;

interface Mark {
  readonly words: string;
  readonly x: number; // share of the width
  readonly row: number;
}

const kLine = 13; // px from one row of labels to the next
const kWide = 0.3; // share of the width that a label may need

/** Marks at equal values share a label, and a label that would touch the one before it goes a row below. */
export function placed(marks: readonly (readonly [string, number])[], at: (value: number) => number): readonly Mark[] {
  const names = new Map<string, readonly [string[], number]>();
  for (const [name, value] of marks) {
    const key = duration(value);
    const same = names.get(key);
    if (same) same[0].push(name);
    else names.set(key, [[name], at(value)]);
  }
  let row = 0;
  return [...names].map(([value, [those, x]], i, all) => {
    const before = all[i - 1];
    row = before !== undefined && x - before[1][1] < kWide ? row + 1 : 0;
    return { words: `${those.join(", ")} ${value}`, x, row };
  });
}

export function Bars({ bars, tail, height, words, marks }: BarsProps) {
  const low = bars[0]?.from ?? 0;
  const high = bars[bars.length - 1]?.to ?? 0;
  const wide = tail === null ? 1 : 0.87;
  const at = (value: number) => (high > low ? (wide * (value - low)) / (high - low) : 0);
  const floor = height - kAxis;
  const most = Math.max(1, tail?.count ?? 0, ...bars.map((bar) => bar.count));
  // A bar with a count is at least 2 px high, so that it can be seen.
  const rise = (count: number) => (count === 0 ? 0 : Math.max(2, ((floor - 28) * count) / most));
  const rect = (key: string, { count }: Bar, x: number, width: number, tone: string) => (
    <rect key={key} class={tone} x={part(x)} width={part(width)} y={floor - rise(count)} height={rise(count)} />
  );
  const shown = placed(marks.filter((mark): mark is readonly [string, number] => mark[1] !== null && mark[1] >= low && mark[1] <= high), at);
  return (
    <svg class="bars" width="100%" height={height} role="img" aria-label={words}>
      {bars.map((bar, i) => rect(`${i}`, bar, high > low ? at(bar.from) : 0.3, high > low ? at(bar.to) - at(bar.from) : 0.4, "bars-bar"))}
      {tail === null ? null : rect("tail", tail, 0.9, 0.1, "bars-bar bars-tail")}
      <line class="bars-axis" x1="0" x2="100%" y1={floor} y2={floor} />
      {shown.map(({ words: text, x, row }) => (
        <g key={text} class="bars-mark">
          <line x1={part(x)} x2={part(x)} y1={12 + row * kLine} y2={floor} />
          <text x={part(x)} y={10 + row * kLine} text-anchor={x > 0.8 ? "end" : "start"}>{text}</text>
        </g>
      ))}
      <text x={high > low ? "0" : "50%"} y={height - 6} text-anchor={high > low ? "start" : "middle"}>{duration(low)}</text>
      {high > low ? <text x={part(wide)} y={height - 6} text-anchor="end">{duration(high)}</text> : null}
      {tail === null ? null : <text x="100%" y={height - 6} text-anchor="end">{"more"}</text>}
    </svg>
  );
}
