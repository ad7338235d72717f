// The view is in the query: keys in one order, defaults left out, keys that we do not know kept as
// they came. So equal views have equal links, and old links stay valid.

const kOrder = [
  "q", "group", "status", "issue", "after", "before", "sort", "cursor", "a", "b", "align", "job", "webhook",
  "by", "user", "account", "gpu", "cause",
  "from", "to", "at", "rank", "show", "lines", "h", "dev", "metric", "node", "order", "cols", "density", "tz", "live",
] as const;

export type Key = (typeof kOrder)[number];
export type Changes = Partial<Record<Key, string | null>>;

function isKnown(name: string): name is Key {
  return (kOrder as readonly string[]).includes(name);
}

/** The value of a key, or the fallback when it is absent or empty. */
export function valueOf(search: string, key: Key, fallback = ""): string {
  return new URLSearchParams(search).get(key) || fallback;
}

/** A number, or null when it is absent or none. */
export function numberOf(search: string, key: Key): number | null {
  const text = valueOf(search, key);
  return /^-?\d{1,15}(\.\d+)?$/.test(text) ? Number(text) : null;
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/%3A/g, ":").replace(/%2C/g, ",").replace(/%20/g, "+");
}

/** The query with changes; null or "" takes a key out. Starts with "?" unless it is empty. */
export function withKeys(search: string, changes: Changes): string {
  const known = new Map<string, string>();
  const unknown: [string, string][] = [];
  for (const [name, value] of new URLSearchParams(search)) {
    if (!isKnown(name)) unknown.push([name, value]);
    else if (!known.has(name)) known.set(name, value);
  }
  for (const [name, value] of Object.entries(changes)) known.set(name, value ?? "");
  const pairs = [...kOrder.map((name) => [name, known.get(name) ?? ""] as const), ...unknown]
    .filter(([name, value]) => value !== "" || !isKnown(name))
    .map(([name, value]) => (value === "" ? encode(name) : `${encode(name)}=${encode(value)}`));
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}
