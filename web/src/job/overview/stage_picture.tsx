import { share } from "../../format";
import type { Diagnosis } from "../../model";
import { narrow } from "../../settings";
import { tabLink } from "../head";
import { outsideOf, type Stage, stagesOf } from "./stages";

// The training's pipeline as one picture: eight stages, each as tall as its part of the training's time. Each is a link
// to its evidence, and all of it is text as well.

const kHeight = 56;
const kLeast = 0.005; // a share that is drawn

const tall = (part: number) => (part < kLeast ? 0 : Math.max(2, kHeight * Math.min(1, part)));

/** The stage in words, for readers that do not see the picture. */
export function wordsOf({ lost, busy, causes, suspect }: Stage): string {
  const parts = [
    busy > 0 ? `${share(busy)} computing` : "",
    lost >= kLeast ? `${share(lost)} lost${causes.length > 0 ? ` to ${causes.map(({ words }) => words).join(", ")}` : ""}` : "",
    suspect === null ? "" : `suspect: ${suspect}`,
  ].filter(Boolean);
  return parts.length === 0 ? "nothing lost" : parts.join(", ");
}

const wide = (part: number) => `${(100 * Math.min(1, part < kLeast ? 0 : part)).toFixed(2)}%`;

/** A column, or on a narrow screen, where the stages lie below each other, a bar. */
function Picture({ lost, busy }: Stage) {
  if (narrow.value) {
    return (
      <svg width="100%" height="8" aria-hidden="true">
        <rect class="budget-all" width="100%" height="8" />
        <rect class="budget-busy" width={wide(busy)} height="8" />
        <rect class="budget-lost" x={wide(busy)} width={wide(lost)} height="8" />
      </svg>
    );
  }
  const [up, down] = [tall(lost), tall(busy)];
  return (
    <svg width="100%" height={kHeight} aria-hidden="true">
      <rect class="budget-all" width="100%" height={kHeight} />
      <rect class="budget-busy" width="100%" y={kHeight - down} height={down} />
      <rect class="budget-lost" width="100%" y={Math.max(0, kHeight - down - up)} height={up} />
    </svg>
  );
}

function StageBox({ job, stage, threshold }: { readonly job: string; readonly stage: Stage; readonly threshold: number }) {
  const { number, word, lost, busy, suspect, evidence } = stage;
  const tone = suspect !== null ? " stage-suspect" : 100 * lost > threshold ? " stage-lost" : "";
  return (
    <li class={`stage${tone}`}>
      <a href={tabLink(job, evidence.tab, evidence.chart)}>
        <span class="stage-name">
          <span class="stage-number">{number}</span> {word}
        </span>
        <Picture {...stage} />
        <b aria-hidden="true">{lost >= kLeast ? share(lost) : busy > 0 ? "" : "–"}{busy > 0 ? <span class="stage-busy"> {share(busy)} busy</span> : null}</b>
        <span class="stage-note" aria-hidden="true">{suspect ?? ""}</span>
        <span class="unseen">: {wordsOf(stage)}. Show the evidence</span>
      </a>
    </li>
  );
}

export function StagePicture({ job, found }: { readonly job: string; readonly found: Diagnosis }) {
  const outside = outsideOf(found);
  return (
    <>
      <ol class="stages" aria-label="The eight stages of a step, with their part of the training’s time">
        {stagesOf(found).map((stage) => (
          <StageBox key={stage.number} job={job} stage={stage} threshold={found.threshold} />
        ))}
      </ol>
      <p class="faint stages-note">
        Part of the training’s time: <span class="swatch swatch-area swatch-busy" aria-hidden="true" />computing,{" "}
        <span class="swatch swatch-area swatch-lost" aria-hidden="true" />lost.{" "}
        {outside.length === 0 ? null : `Outside of the stages: ${outside.map(({ words, share: part }) => `${words} ${share(part)}`).join(", ")}.`}
      </p>
    </>
  );
}
