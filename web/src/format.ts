// Units become words here and nowhere else.

export type TimeZone = "relative" | "utc" | "local";

export const kNothing = "–";
const kThin = "\u202f";

function fixed(value: number, digits: number): string {
  return value.toFixed(digits).replace(/^-(0(\.0+)?)$/, "$1");
}

/** 2 111: groups of three with a narrow space. */
export function count(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return kNothing;
  return fixed(value, 0).replace(/\B(?=(\d{3})+$)/g, kThin);
}

/** A plain number with three significant digits; as a power of ten where it would be long. */
export function number(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return kNothing;
  const size = Math.abs(value);
  if (size >= 1e9 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  if (size >= 1000) return count(value);
  if (size > 0 && size < 0.0995) return value.toPrecision(3);
  return fixed(value, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** Percent, without decimals from 10 on. */
export function percent(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return kNothing;
  const digits = Math.abs(value) >= 9.95 || value === 0 ? 0 : 1;
  return `${fixed(value, digits)} %`;
}

/** A share from 0 to 1 as percent. */
export function share(value: number | null | undefined): string {
  return percent(value === null || value === undefined ? null : value * 100);
}

const kByteUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return kNothing;
  let size = value;
  let unit = 0;
  while (Math.abs(size) >= 1000 && unit < kByteUnits.length - 1) {
    size /= 1024;
    unit += 1;
  }
  const text = fixed(size, unit === 0 || Math.abs(size) >= 99.5 ? 0 : 1).replace(/\.0$/, "");
  return `${text} ${kByteUnits[unit]}`;
}

export function byteRate(value: number | null | undefined): string {
  const text = bytes(value);
  return text === kNothing ? text : `${text}/s`;
}

function two(value: number): string {
  return String(Math.floor(value)).padStart(2, "0");
}

/** Three significant digits of a number from 1 to 1,000. */
const three = (value: number) => fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);

/** A duration: 812 µs, 8.20 ms, 110 ms, 1.20 s, 42.5 s, 1 m 20 s, 13 h 52 m, 2 d 03 h. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return kNothing;
  if (seconds < 0) return `−${duration(-seconds)}`;
  if (seconds === 0) return "0 s";
  if (seconds < 0.0009995) return `${fixed(seconds * 1e6, 0)} µs`;
  if (seconds < 0.9995) return `${three(seconds * 1e3)} ms`;
  if (seconds < 59.95) return `${three(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${two(whole % 60)} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${two((whole % 3600) / 60)} m`;
  return `${Math.floor(whole / 86_400)} d ${two((whole % 86_400) / 3600)} h`;
}

/** A duration that people watch grow: whole seconds only. */
export function elapsed(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return kNothing;
  return seconds < 60 ? `${Math.floor(Math.max(0, seconds))} s` : duration(Math.floor(seconds));
}

export function ago(seconds: number): string {
  return seconds < 1 ? "just now" : `${elapsed(seconds)} ago`;
}

function dateParts(ms: number, zone: TimeZone): readonly [string, string, string] {
  const date = new Date(zone === "local" ? ms - new Date(ms).getTimezoneOffset() * 60_000 : ms);
  const text = date.toISOString();
  return [text.slice(0, 10), text.slice(11, 19), text.slice(20, 23)];
}

function known(us: number | null | undefined): us is number {
  return us !== null && us !== undefined && Math.abs(us / 1000) <= 8.64e15;
}

/** 2026-11-10 00:12:31, with the zone named unless it is in the column's title. */
export function dateTime(us: number | null | undefined, zone: TimeZone, named = true): string {
  if (!known(us)) return kNothing;
  const [day, time] = dateParts(us / 1000, zone);
  return `${day} ${time}${named ? ` ${zoneName(zone)}` : ""}`;
}

/** The name of the zone in which dates and clock times are told: without a start to count from, "relative" is UTC. */
export const zoneName = (zone: TimeZone): string => (zone === "local" ? "local" : "UTC");

/** A time since the job's start, for axes and tooltips: 20 s, 1:20, 1:02:03. */
export function sinceStart(ms: number, decimals = 0): string {
  const sign = ms < 0 ? "−" : "";
  const unit = 10 ** (3 - decimals);
  const total = Math.round(Math.abs(ms) / unit) * unit;
  const seconds = total / 1000;
  if (seconds < 60) return `${sign}${fixed(seconds, decimals)} s`;
  const rest = seconds % 60;
  const tail = fixed(rest, decimals).padStart(decimals === 0 ? 2 : 3 + decimals, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${sign}${minutes}:${tail}`;
  return `${sign}${Math.floor(minutes / 60)}:${two(minutes % 60)}:${tail}`;
}

/** The clock time of an instant; tenths of a second when `decimals` is 1. */
export function clockTime(ms: number, zone: TimeZone, decimals = 0): string {
  const [, time, fraction] = dateParts(ms, zone);
  return decimals === 0 ? time : `${time}.${fraction.slice(0, decimals)}`;
}

const monthAndDay = (ms: number, zone: TimeZone) => dateParts(ms, zone)[0].slice(5);

/** An instant of a job in the zone that the reader chose; a clock time of another day than its first names the day. */
export function instant(ms: number, startMs: number, zone: TimeZone, decimals = 0): string {
  if (zone === "relative") return sinceStart(ms - startMs, decimals);
  const time = clockTime(ms, zone, decimals);
  const day = monthAndDay(ms, zone);
  return day === monthAndDay(startMs, zone) ? time : `${day} ${time}`;
}

/** An instant on an axis: like `instant`, but the day is written at midnight only. */
export function axisInstant(ms: number, startMs: number, zone: TimeZone, decimals = 0): string {
  if (zone === "relative") return sinceStart(ms - startMs, decimals);
  const time = clockTime(ms, zone, decimals);
  return /^00:00:00[.0]*$/.test(time) ? monthAndDay(ms, zone) : time;
}

/** Hours of GPUs; less than one as minutes and seconds. */
export function hours(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return kNothing;
  return value < 1 ? duration(value * 3600) : `${number(value)} h`;
}

export function plural(many: number, one: string, several = `${one}s`): string {
  return `${count(many)} ${many === 1 ? one : several}`;
}

/** "2 × 8 GPUs", "1 node". */
export function hardware(nodes: number, gpus: number): string {
  if (nodes <= 0) return kNothing;
  if (gpus <= 0) return plural(nodes, "node");
  const each = gpus / nodes;
  const text = Number.isInteger(each) ? count(each) : `${count(gpus)} in all`;
  return `${count(nodes)} × ${text} ${gpus === 1 ? "GPU" : "GPUs"}`;
}

/** A round value of an axis in the unit of its metric: like `metric`, but without zeros after the point. */
export function axisValue(value: number, unit: string): string {
  return metric(value, unit).replace(/(\.\d*?)0+(?=\s|$)/, "$1").replace(/\.(?=\s|$)/, "");
}

const power = (value: number) => Math.floor(Math.log10(value) + 1e-9);

/** A number of an axis that need not begin at 0: with the digits that tell it from the next, `step` away. */
export function axisNumber(value: number, step: number): string {
  const size = Math.abs(value);
  if (size < step / 1000) return "0";
  const tenths = step / 10 ** power(step);
  const last = power(step) - (Math.abs(tenths - Math.round(tenths)) > 1e-6 ? 1 : 0); // steps are 1, 2, 2.5 and 5
  if (size >= 1e6 || size < 1e-4) return value.toExponential(Math.max(0, Math.min(7, power(size) - last)));
  return last < 0 ? fixed(value, -last) : count(value);
}

/** The value of a metric in its own unit. */
export function metric(value: number | null | undefined, unit: string): string {
  if (unit === "%") return percent(value);
  if (unit === "bytes") return bytes(value);
  if (unit === "bytes/s") return byteRate(value);
  if (unit === "s") return duration(value);
  if (unit === "W") return `${number(value)} W`;
  return number(value);
}
