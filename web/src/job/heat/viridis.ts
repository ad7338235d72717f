// The colours of a heat map: viridis, which grows evenly lighter also for colour-blind eyes; low is dark.

type Rgb = readonly [number, number, number];

const kStops: readonly Rgb[] = [
  [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142],
  [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37],
];

/** The colour of a share from 0 to 1. */
export function viridis(share: number): Rgb {
  const at = Math.max(0, Math.min(1, share)) * (kStops.length - 1);
  const low = kStops[Math.floor(at)] as Rgb;
  const high = kStops[Math.min(kStops.length - 1, Math.floor(at) + 1)] as Rgb;
  const part = at - Math.floor(at);
  return [0, 1, 2].map((i) => Math.round((low[i] as number) + part * ((high[i] as number) - (low[i] as number)))) as unknown as Rgb;
}

export const hex = (rgb: Rgb) => `#${rgb.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
