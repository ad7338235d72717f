import { hours, share, type TimeZone } from "../format";
import { withKeys } from "../query";
import { search } from "../router";
import type { Fleet } from "./calls";
import { dayOf, type Piece, piecesOf, trendOf } from "./words";

// The fleet's hours as one bar, and the weeks as columns.

const part = (value: number) => `${(100 * value).toFixed(3)}%`;

/** Hatching for what is not known: never a colour that means good or bad. Once on the page. */
export function Hatch() {
  return (
    <svg width="0" height="0" class="unseen" aria-hidden="true">
      <defs>
        <pattern id="fleet-unknown" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="6" height="6" class="fleet-hatch-ground" />
          <rect width="2" height="6" class="fleet-hatch" />
        </pattern>
      </defs>
    </svg>
  );
}

function Legend({ pieces, whole }: { readonly pieces: readonly Piece[]; readonly whole: number }) {
  return (
    <ul class="fleet-legend">
      {pieces.map(({ key, words, hours: each, tone }) => (
        <li key={key}>
          <svg width="12" height="12" aria-hidden="true">
            <rect width="12" height="12" class={`fleet-${tone}`} />
          </svg>
          {tone === "busy" || key === "rest" || key === "not-judged" ? words : <a href={`/fleet${withKeys(search.value, { cause: key, by: "job" })}`}>{words}</a>} <b>{share(each / whole)}</b> <span class="faint">{hours(each)}</span>
        </li>
      ))}
    </ul>
  );
}

export function Causes({ found }: { readonly found: Fleet }) {
  const pieces = piecesOf(found);
  const whole = pieces.reduce((sum, piece) => sum + piece.hours, 0);
  if (whole === 0) return null;
  let at = 0;
  const placed = pieces.map((piece) => ({ ...piece, x: (at += piece.hours) - piece.hours }));
  return (
    <>
      <svg class="fleet-bar" width="100%" height="28" role="img" aria-label={pieces.map(({ words, hours: each }) => `${words} ${share(each / whole)}`).join(", ")}>
        {placed.map(({ key, x, hours: each, tone }) => (
          <rect key={key} class={`fleet-${tone}`} x={part(x / whole)} width={part(each / whole)} height="28" />
        ))}
      </svg>
      <Legend pieces={pieces} whole={whole} />
    </>
  );
}

const kHigh = 120;

/** Columns of the hours of each week: busy at the bottom, lost on it, not judged at the top. */
export function Weeks({ weeks, zone }: { readonly weeks: Fleet["weeks"]; readonly zone: TimeZone }) {
  const most = Math.max(...weeks.map(({ sums }) => sums.gpu_hours));
  if (most === 0) return <p class="faint">No GPU was held in these weeks.</p>;
  const tall = (value: number) => (kHigh * value) / most;
  const wide = 1 / weeks.length;
  return (
    <figure class="fleet-weeks">
      <svg width="100%" height={kHigh + 18} role="img" aria-labelledby="fleet-trend">
        {weeks.map(({ to_us, from_us, sums }, i) => {
          const [busy, lost, dark] = [tall(sums.busy_gpu_hours), tall(sums.lost_gpu_hours), tall(sums.not_judged_gpu_hours)];
          const place = { x: part((i + 0.12) * wide), width: part(0.76 * wide) };
          return (
            <g key={to_us}>
              <title>{`${dayOf(from_us, zone)} to ${dayOf(to_us, zone)}: ${hours(sums.gpu_hours)} held, ${hours(sums.busy_gpu_hours)} busy, ${hours(sums.lost_gpu_hours)} lost, ${hours(sums.not_judged_gpu_hours)} not judged`}</title>
              <rect class="fleet-busy" {...place} y={kHigh - busy} height={busy} />
              <rect class="fleet-lost-0" {...place} y={kHigh - busy - lost} height={lost} />
              <rect class="fleet-unknown" {...place} y={kHigh - busy - lost - dark} height={dark} />
            </g>
          );
        })}
        <line x1="0" x2="100%" y1={kHigh} y2={kHigh} />
        <text x="0" y={kHigh + 14}>{dayOf(weeks[0]?.from_us ?? 0, zone)}</text>
        <text x="100%" y={kHigh + 14} text-anchor="end">{dayOf(weeks[weeks.length - 1]?.to_us ?? 0, zone)}</text>
      </svg>
      <figcaption id="fleet-trend" class="summary">{trendOf(weeks, zone)} The highest column is {hours(most)} of GPUs held.</figcaption>
    </figure>
  );
}
