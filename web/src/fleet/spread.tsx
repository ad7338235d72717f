import { hex, viridis } from "../job/heat/viridis";
import { hours, plural, share, zoneName } from "../format";
import { navigate } from "../router";
import { zoneOf } from "../settings";
import type { Fleet } from "./calls";
import { linkOf, nameOf } from "./links";
import { lostShare, placesOf, slotBegin, spreadOf, worstSlotOf } from "./words";

// The first rows as points, hours held against the share lost, and as strips over time.

const kHigh = 220;
const kPad = 12; // above and below the points
const part = (value: number) => `${(100 * value).toFixed(3)}%`;

const kShares = [0, 0.5, 1];
const kNamed = 3; // points with their names beside them

export function Scatter({ found }: { readonly found: Fleet }) {
  const { points, ticks } = placesOf(found.rows);
  if (points.length < 2) return null;
  const top = (y: number) => kPad + (1 - y) * (kHigh - 2 * kPad);
  return (
    <section class="card facts" aria-labelledby="fleet-spread">
      <div class="section-head">
        <h2 id="fleet-spread">Hours held, and the share lost</h2>
        <p>a point for each row of the table; to the right more hours, to the top more of the judged ones lost</p>
      </div>
      <figure class="fleet-weeks">
        <svg width="100%" height={kHigh + 18} role="img" aria-labelledby="fleet-spread-text">
          {kShares.map((y) => (
            <g key={y}>
              <line x1="0" x2="100%" y1={top(y)} y2={top(y)} />
              <text x="0" y={top(y) - 3}>{share(y)}</text>
            </g>
          ))}
          {ticks.map(({ x, hours: value }) => (
            <text key={x} x={part(x)} y={kHigh + 14} text-anchor={x > 0.9 ? "end" : "middle"}>{hours(value)}</text>
          ))}
          {points.map(({ key, x, y, sums }, i) => (
            <g key={key ?? ""} class="fleet-point" onClick={() => key !== null && navigate(linkOf(found.by, key))}>
              <title>{`${nameOf(found, key)}: ${hours(sums.gpu_hours)} held, ${share(y)} of the judged hours lost`}</title>
              <circle cx={part(x)} cy={top(y)} r="5" class="fleet-lost-0" />
              {i < kNamed ? (
                <text x={part(x)} y={top(y) + 4} dx={x > 0.6 ? -10 : 10} text-anchor={x > 0.6 ? "end" : "start"}>
                  {nameOf(found, key).slice(0, 24)}
                </text>
              ) : null}
            </g>
          ))}
        </svg>
        <figcaption id="fleet-spread-text" class="summary">{spreadOf(found)}</figcaption>
      </figure>
    </section>
  );
}

const kStrip = 20;

function Strip({ found, row }: { readonly found: Fleet; readonly row: Fleet["grid"]["rows"][number] }) {
  const most = Math.max(...row.gpu_hours);
  const wide = 1 / row.gpu_hours.length;
  const name = nameOf(found, row.key);
  return (
    <li>
      <span class={row.key === null ? "fleet-name faint" : "fleet-name"}>{name}</span>
      <svg width="100%" height={kStrip} role="img" aria-label={`${name}: ${worstSlotOf(found, row, zoneOf("utc"))}`}>
        {row.gpu_hours.map((held, i) => {
          if (held <= 0) return null;
          const lost = lostShare(row.judged_gpu_hours[i] ?? 0, row.lost_gpu_hours[i] ?? 0);
          const high = Math.max(4, (kStrip * held) / most);
          const place = { x: part(i * wide), width: part(0.94 * wide), y: kStrip - high, height: high };
          return (
            <g key={i}>
              <title>{`${name}, ${slotWords(found, i)}: ${hours(held)} held, ${lost === null ? "not judged" : `${share(lost)} of the judged hours lost`}`}</title>
              <rect {...place} {...(lost === null ? { class: "fleet-unknown" } : { fill: hex(viridis(lost)) })} />
            </g>
          );
        })}
      </svg>
    </li>
  );
}

/** The day and minute in which a slot begins. */
function slotWords(found: Fleet, slot: number): string {
  return slotBegin(found, slot, zoneOf("utc")).slice(5);
}

const kScale = [0, 0.25, 0.5, 0.75, 1];

export function Grid({ found }: { readonly found: Fleet }) {
  const { rows, slot_seconds } = found.grid;
  const first = rows[0];
  if (first === undefined) return null;
  const more = found.rows_total - rows.length;
  return (
    <section class="card facts" aria-labelledby="fleet-grid">
      <div class="section-head">
        <h2 id="fleet-grid">Over time</h2>
        <p>
          the share of the judged hours that was lost in each {hours(slot_seconds / 3600)}; the higher, the more GPUs were held
          {more > 0 ? `; the first ${rows.length} of ${plural(found.rows_total, "row")}` : ""}
        </p>
      </div>
      <ol class="fleet-grid">
        {rows.map((row) => (
          <Strip key={row.key ?? ""} found={found} row={row} />
        ))}
        <li class="faint">
          <span class="fleet-name">{zoneName(zoneOf("utc"))}</span>
          <span class="fleet-axis">
            <span>{slotWords(found, 0)}</span>
            <span>{slotWords(found, first.gpu_hours.length - 1)}</span>
          </span>
        </li>
      </ol>
      <ul class="fleet-legend" aria-label="Colours">
        {kScale.map((each) => (
          <li key={each}>
            <svg width="12" height="12" aria-hidden="true">
              <rect width="12" height="12" fill={hex(viridis(each))} />
            </svg>
            {share(each)} lost
          </li>
        ))}
        <li>
          <svg width="12" height="12" aria-hidden="true">
            <rect width="12" height="12" class="fleet-unknown" />
          </svg>
          not judged
        </li>
      </ul>
    </section>
  );
}
