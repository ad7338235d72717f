import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { kPalettes, kPhases, kUnaccounted, type Theme, toneOf } from "../src/palette";

const kThemes: readonly Theme[] = ["light", "dark"];
type Rgb = readonly [number, number, number];

/** The colour in linear light, 0 to 1. */
function linear(colour: string): Rgb {
  const part = (at: number) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(1), part(3), part(5)];
}

function contrast(a: string, b: string): number {
  const light = (colour: string) => linear(colour).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i]!, 0) + 0.05;
  const [x, y] = [light(a), light(b)];
  return Math.max(x, y) / Math.min(x, y);
}

const times = (m: readonly Rgb[], [x, y, z]: Rgb): Rgb =>
  m.map((row) => row[0] * x + row[1] * y + row[2] * z) as unknown as Rgb;

/** Simulated colour blindness in linear light: Viénot 1999 for protan and deutan, Brettel 1997 for tritan. */
const kProtan: readonly Rgb[] = [[0.1124, 0.8876, 0], [0.1124, 0.8876, 0], [0.004, -0.004, 1]];
const kDeutan: readonly Rgb[] = [[0.2927, 0.7073, 0], [0.2927, 0.7073, 0], [-0.0223, 0.0223, 1]];
const kTritanA: readonly Rgb[] = [[1.0128, 0.1355, -0.1483], [-0.0124, 0.8681, 0.1443], [0.0759, 0.805, 0.1191]];
const kTritanB: readonly Rgb[] = [[0.9368, 0.1898, -0.1266], [0.0615, 0.8153, 0.1232], [-0.3756, 1.1277, 0.248]];
const kEyes: Readonly<Record<string, (rgb: Rgb) => Rgb>> = {
  normal: (rgb) => rgb,
  protan: (rgb) => times(kProtan, rgb),
  deutan: (rgb) => times(kDeutan, rgb),
  tritan: (rgb) => times(0.039 * rgb[0] - 0.0279 * rgb[1] - 0.0111 * rgb[2] >= 0 ? kTritanA : kTritanB, rgb),
};

function lab(rgb: Rgb): Rgb {
  const xyz = times([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], rgb);
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [f(xyz[0] / 0.9505), f(xyz[1]), f(xyz[2] / 1.089)];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test("lines stand out from the ground, text can be read", () => {
  for (const theme of kThemes) {
    const palette = kPalettes[theme];
    for (const colour of [...palette.series, palette.neutral]) assert.ok(contrast(colour, palette.panel) >= 3, `${theme} ${colour}`);
    for (const colour of [palette.text, palette.muted, palette.threshold]) assert.ok(contrast(colour, palette.panel) >= 4.5, `${theme} ${colour}`);
  }
});

test("lines can be told apart, also by colour-blind eyes", () => {
  for (const theme of kThemes) {
    for (const [eyes, see] of Object.entries(kEyes)) {
      const seen = kPalettes[theme].series.map((colour) =>
        lab(see(linear(colour)).map((v) => Math.min(1, Math.max(0, v))) as unknown as Rgb));
      seen.forEach((a, i) => seen.slice(i + 1).forEach((b, j) => {
        const distance = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        assert.ok(distance >= 25, `${theme} ${eyes} ${i} ${i + 1 + j}: ${distance.toFixed(1)}`);
      }));
    }
  }
});

test("every phase has a fill of its own, and neighbours of one colour differ by stripes", () => {
  const fills = Object.values(kPhases).map(({ tone, striped }) => `${tone} ${striped ?? false}`);
  assert.equal(fills.length, 13);
  assert.equal(new Set(fills).size, fills.length);
  for (const theme of kThemes) {
    const { panel, line } = kPalettes[theme];
    assert.notEqual(toneOf(kUnaccounted, kPalettes[theme]), panel, "time that no phase covers is no hole");
    assert.equal(toneOf(kUnaccounted, kPalettes[theme]), line);
  }
});

function declared(css: string, selector: string): Map<string, string> {
  const start = css.indexOf(`${selector} {`);
  const block = css.slice(start, css.indexOf("}", start));
  return new Map([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name!, value!]));
}

test("style sheet and canvas have the same colours", () => {
  const css = readFileSync("src/style.css", "utf8");
  for (const theme of kThemes) {
    const names = declared(css, theme === "light" ? ":root" : ':root[data-theme="dark"]');
    const { series, ...rest } = kPalettes[theme];
    for (const [name, value] of Object.entries(rest)) assert.equal(names.get(name), value, `${theme} ${name}`);
    series.forEach((value, i) => assert.equal(names.get(`series-${i}`), value));
  }
});

test("words in status colours can be read on every ground they stand on", () => {
  const css = readFileSync("src/style.css", "utf8");
  for (const selector of [":root", ':root[data-theme="dark"]']) {
    const names = declared(css, selector);
    const of = (name: string) => names.get(name) ?? assert.fail(name);
    for (const tone of ["blue", "green", "red", "amber", "grey", "muted", "text", "accent"]) {
      for (const ground of ["panel", "ground"]) assert.ok(contrast(of(tone), of(ground)) >= 4.5, `${selector} ${tone} on ${ground}`);
    }
    for (const tone of ["blue", "green", "red", "amber"]) {
      assert.ok(contrast(of(tone), of(`${tone}-ground`)) >= 4.5, `${selector} ${tone} on its ground`);
      assert.ok(contrast(of("text"), of(`${tone}-ground`)) >= 4.5, `${selector} text on ${tone}`);
    }
    assert.ok(contrast(of("control"), of("panel")) >= 3, `${selector} control`);
  }
});
