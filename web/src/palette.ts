// Colours that are drawn on canvas. style.css holds the same values for text and boxes; a test keeps
// the two together and measures contrast and distance, also for colour-blind eyes.

export type Theme = "light" | "dark";

export interface Palette {
  readonly panel: string;
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly neutral: string;
  readonly threshold: string;
  readonly series: readonly [string, string, string, string, string, string];
}

export const kPalettes: Readonly<Record<Theme, Palette>> = {
  light: {
    panel: "#ffffff",
    text: "#16202b",
    muted: "#55606b",
    line: "#e1e5ea",
    neutral: "#5f6b76",
    threshold: "#8a5300",
    series: ["#0b5cad", "#b67a20", "#e0347f", "#2b1038", "#841812", "#8890d0"],
  },
  dark: {
    panel: "#171d24",
    text: "#e6eaee",
    muted: "#a4afbb",
    line: "#2c3540",
    neutral: "#a4afbb",
    threshold: "#f0b429",
    series: ["#6cb2ff", "#ffc08f", "#d0498f", "#d9f24f", "#8f5bff", "#8a6606"],
  },
};

/** The fill of an area: the colour of a series, or stripes of that colour for the second of two phases that belong together. */
export interface Fill {
  readonly tone: number;
  readonly striped?: boolean;
}

/** Time that nothing accounts for: as faint as a line of the grid. */
export const kUnaccounted = -2;

/** The phases in the order of a step. Phases that follow each other in most steps differ in colour, or by stripes. */
export const kPhases: Readonly<Record<string, Fill>> = {
  data: { tone: 0 },
  transfer: { tone: 0, striped: true },
  forward: { tone: 1 },
  loss: { tone: 1, striped: true },
  backward: { tone: 2 },
  communication: { tone: 2, striped: true },
  optimizer: { tone: 4 },
  callback: { tone: 4, striped: true },
  checkpoint: { tone: 3 },
  sync: { tone: 5 },
  device_to_host: { tone: 5, striped: true },
  other: { tone: 3, striped: true },
  unnamed: { tone: kUnaccounted },
};

export function toneOf(tone: number, palette: Palette): string {
  return palette.series[tone] ?? (tone === kUnaccounted ? palette.line : palette.neutral);
}

/** A colour of the palette with an opacity from 0 to 1, for fills. */
export function faint(colour: string, opacity: number): string {
  const byte = Math.round(opacity * 255).toString(16).padStart(2, "0");
  return `${colour}${byte}`;
}
