import type { ComponentChild } from "preact";
import { dateTime, duration, instant, type TimeZone } from "../format";

// The changes of a status in the order in which they came: when, to what, for how long, and why.

export interface Change {
  readonly us: number;
  readonly state: ComponentChild;
  readonly words: string | null;
}

interface ChangesProps {
  readonly rows: readonly Change[];
  readonly zone: TimeZone;
  readonly startMs: number;
}

export function Changes({ rows, zone, startMs }: ChangesProps) {
  return (
    <ol class="transitions">
      {rows.map(({ us, state, words }, i) => {
        const next = rows[i + 1];
        return (
          <li key={i}>
            <time dateTime={new Date(us / 1000).toISOString()} title={dateTime(us, "utc")}>
              {instant(us / 1000, startMs, zone, zone === "relative" ? 1 : 0)}
            </time>
            {state}
            {next && next.us > us ? <span class="faint">for {duration((next.us - us) / 1e6)}</span> : null}
            {words ? <span class="transition-words">{words}</span> : null}
          </li>
        );
      })}
    </ol>
  );
}
