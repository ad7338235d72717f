import { dateTime, duration, type TimeZone } from "../../format";
import type { JobNode } from "../../model";

/** A sentence about a node's clock, which decides whether the times of its charts can be believed. */
export function clockOf({ clock_offset_us: offset, clock_suspect: seen }: JobNode, zone: TimeZone): string {
  const now = duration((offset ?? 0) / 1e6);
  if (!seen) return now;
  const off = `${duration(Math.abs(seen.offset_us) / 1e6)} ${seen.offset_us > 0 ? "behind" : "ahead"}`;
  const since = dateTime(seen.since_us, zone);
  return seen.until_us === null
    ? `${off}: it is off since ${since}, its times are as its agent said`
    : `${now}; was ${off} from ${since} to ${dateTime(seen.until_us, zone)}, its times of then are as its agent said`;
}
