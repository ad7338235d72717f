import { metric } from "../../format";
import { kPalettes, type Palette, toneOf } from "../../palette";
import { theme } from "../../settings";
import type { ChartProps } from "../chart";
import { legendOrder, meanOf } from "../summary";
import { spanWords } from "../view";

// A chart as a picture that can stand alone: title, names of its lines, the plot, its sentence, and of which job and time it is.

const kMargin = 16;
const kLine = 18;
const kFont = "12px system-ui, sans-serif";

/** The lines of a text that are at most so wide; a word that is wider stands alone. */
export function wrapped(text: string, width: number, widthOf: (text: string) => number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && widthOf(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

interface Name {
  readonly words: string;
  readonly tone: number;
  readonly left: number;
  readonly line: number;
}

/** The names of the lines with their means, one behind the other. */
function namesOf({ panel, span }: ChartProps, width: number, widthOf: (text: string) => number): readonly Name[] {
  let [left, line] = [0, 0];
  return legendOrder(panel, span).map((trace) => {
    const words = `${trace.label} ${metric(meanOf(trace, span), panel.unit)}`;
    const wide = widthOf(words) + 36;
    if (left > 0 && left + wide > width) [left, line] = [0, line + 1];
    const name = { words, tone: trace.tone, left, line };
    left += wide;
    return name;
  });
}

function drawNames(ctx: CanvasRenderingContext2D, names: readonly Name[], top: number, palette: Palette): void {
  for (const { words, tone, left, line } of names) {
    ctx.fillStyle = toneOf(tone, palette);
    ctx.fillRect(kMargin + left, top + line * kLine + 5, 12, 4);
    ctx.fillStyle = palette.text;
    ctx.fillText(words, kMargin + left + 18, top + line * kLine);
  }
}

/** Draws the card around a copy of its plot, in the sizes and colours of the screen. */
export function pictureOf(props: ChartProps, plot: HTMLCanvasElement, sentence: string): HTMLCanvasElement {
  const { panel, span, startMs, zone, job } = props;
  const ratio = window.devicePixelRatio;
  const palette = kPalettes[theme.peek()];
  const [width, high] = [plot.width / ratio, plot.height / ratio];
  const canvas = document.createElement("canvas");
  const ctx = canvas.getContext("2d");
  if (ctx === null) return canvas;
  ctx.font = kFont;
  const widthOf = (text: string) => ctx.measureText(text).width;
  const names = namesOf(props, width, widthOf);
  const lines = wrapped(sentence, width, widthOf);
  const foot = `${job}, ${spanWords(span, startMs, zone)}${zone === "relative" ? " from its start" : ""}`;
  const namesTop = kMargin + 26;
  const plotTop = namesTop + ((names[names.length - 1]?.line ?? 0) + 1) * kLine + 4;
  const linesTop = plotTop + high + 6;
  canvas.width = Math.round((width + 2 * kMargin) * ratio);
  canvas.height = Math.round((linesTop + (lines.length + 1) * kLine + kMargin) * ratio);
  ctx.scale(ratio, ratio);
  ctx.fillStyle = palette.panel;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.textBaseline = "top";
  ctx.fillStyle = palette.text;
  ctx.font = "bold 14px system-ui, sans-serif";
  ctx.fillText(panel.title, kMargin, kMargin);
  const noteLeft = kMargin + widthOf(panel.title) + 10;
  ctx.font = kFont;
  ctx.fillStyle = palette.muted;
  ctx.fillText(panel.note, noteLeft, kMargin + 2, width - noteLeft + kMargin);
  drawNames(ctx, names, namesTop, palette);
  ctx.drawImage(plot, kMargin, plotTop, width, high);
  ctx.fillStyle = palette.muted;
  [...lines, foot].forEach((line, i) => ctx.fillText(line, kMargin, linesTop + i * kLine));
  return canvas;
}
