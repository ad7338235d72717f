import { search, setKeys } from "../router";
import type { Comparison } from "./calls";
import { alignOf, howOften, kAligns, type Overlay, pathOf, stepTimes, utilisation } from "./lines";

// Both runs in one chart: A as a full line, B dashed, so that colour is not all that tells them apart.

const kAbove = 16; // the words of the upper edge stand over it, not in the lines
const kHigh = 150;
const kBelow = 18;

function Chart({ overlay }: { readonly overlay: Overlay }) {
  const { title, note, a, b, low, high, top, words, sentence } = overlay;
  const id = `overlay-${title.replace(/\W+/g, "-").toLowerCase()}`;
  const all = [...a, ...b];
  const box = { from: Math.min(...all.map(({ from }) => from)), to: Math.max(...all.map(({ to }) => to)), top };
  return (
    <section class="card facts" aria-labelledby={id}>
      <div class="section-head">
        <h2 id={id}>{title}</h2>
        <p>{note}</p>
      </div>
      <figure class="overlay">
        <svg width="100%" height={kAbove + kHigh + kBelow} role="img" aria-labelledby={`${id}-text`}>
          <line x1="0" x2="100%" y1={kAbove} y2={kAbove} />
          <line x1="0" x2="100%" y1={kAbove + kHigh} y2={kAbove + kHigh} />
          <svg width="100%" y={kAbove} height={kHigh} viewBox="0 0 1000 100" preserveAspectRatio="none">
            <path class="overlay-a" d={pathOf(a, box)} />
            <path class="overlay-b" d={pathOf(b, box)} />
          </svg>
          <text x="0" y={kAbove - 4}>{words(top)}</text>
          <text x="0" y={kAbove + kHigh + 14}>{low}</text>
          <text x="100%" y={kAbove + kHigh + 14} text-anchor="end">{high}</text>
        </svg>
        <figcaption id={`${id}-text`} class="summary">{sentence}</figcaption>
      </figure>
    </section>
  );
}

function Key({ name, side }: { readonly name: string; readonly side: "a" | "b" }) {
  return (
    <li>
      <svg width="30" height="10" aria-hidden="true">
        <path class={`overlay-${side}`} d="M0 5H30" />
      </svg>
      {side.toUpperCase()}: {name}
    </li>
  );
}

function AlignBy() {
  const align = alignOf(search.value);
  return (
    <label>
      <span>Align by</span>
      <select value={align} onChange={({ currentTarget: { value } }) => setKeys({ align: value === "step" ? null : value }, true)}>
        {Object.entries(kAligns).map(([word, text]) => (
          <option key={word} value={word}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Overlays({ found }: { readonly found: Comparison }) {
  const align = alignOf(search.value);
  const charts = [stepTimes(found, align), howOften(found), utilisation(found, "gpu", align), utilisation(found, "cpu", align)].filter((each) => each !== null);
  if (charts.length === 0) return null;
  return (
    <>
      <div class="overlay-head">
        <ul class="fleet-legend" aria-label="Lines">
          <Key name={found.a.name} side="a" />
          <Key name={found.b.name} side="b" />
        </ul>
        <AlignBy />
      </div>
      <div class="overlays">
        {charts.map((overlay) => (
          <Chart key={overlay.title} overlay={overlay} />
        ))}
      </div>
    </>
  );
}
