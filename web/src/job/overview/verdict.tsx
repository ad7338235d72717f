import { share } from "../../format";
import type { Cause, Job } from "../../model";
import { kReport } from "../../status";
import { tabLink, useWatched } from "../head";
import { StagePicture } from "./stage_picture";
import { evidenceOf, namedCauses } from "./stages";
import { capital, gainOf, groundOf, headlineOf, seenBy } from "./words";

// The verdict comes before everything else: what holds the job up in a sentence, what to do, what it would gain, and the
// picture of the stages.

const width = (part: number) => `${(100 * part).toFixed(2)}%`;
const wordsOf = (row: Cause) => (row.cause === "busy" ? "Computing" : capital(row.words));

function Row({ row }: { readonly row: Cause }) {
  return (
    <li>
      <span>{wordsOf(row)}</span>
      <svg width="100%" height="12" aria-hidden="true">
        <rect class="budget-all" width="100%" height="12" />
        <rect class={row.cause === "busy" ? "budget-busy" : "budget-lost"} width={width(row.share)} height="12" />
      </svg>
      <b>{share(row.share)}</b>
    </li>
  );
}

function Advice({ row, job, word }: { readonly row: Cause; readonly job: Job; readonly word: string }) {
  if (!row.advice) return null;
  const { tab, chart } = evidenceOf(row);
  return (
    <div class="advice">
      <p>
        <b>{word}</b> {row.advice} <span class="advice-gain">{gainOf(row)}</span>
      </p>
      <a class="button" href={tabLink(job.name, tab, chart)}>
        Evidence<span class="unseen"> of {row.words}</span>
      </a>
    </div>
  );
}

function Missing({ sentences }: { readonly sentences: readonly string[] }) {
  if (sentences.length === 0) return null;
  return (
    <>
      <h3>What is not seen</h3>
      <ul class="missing">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </>
  );
}

/** The card of the verdict; of a job that is watched as high as it will be, so that nothing moves when it comes. */
const cardOf = (watched: boolean) => `card diagnosis${watched ? " diagnosis-live" : ""}`;

/** Why there is no verdict, in the words of the rule that would give it. */
function NoVerdict({ job }: { readonly job: Job }) {
  const report = job.profiler_rule_evaluation_statuses.find(({ rule }) => rule === kReport);
  const watched = useWatched(job);
  if (report === undefined) return null;
  const reason = report.verdict?.sentence || report.status_details;
  return (
    <section class={cardOf(watched)} aria-labelledby="diagnosis-title">
      <h2 id="diagnosis-title">No verdict{job.ended_us === null ? " yet" : ""}</h2>
      <p class="diagnosis-sentence">{reason ? `Too little was seen: ${reason.replace(/^not judged: /, "")}` : "Nothing was judged yet."}</p>
    </section>
  );
}

export function Verdict({ job }: { readonly job: Job }) {
  const found = job.diagnosis;
  const watched = useWatched(job);
  if (found === null) return <NoVerdict job={job} />;
  const running = job.ended_us === null;
  const named = namedCauses(found);
  const ground = groundOf(found);
  return (
    <section class={cardOf(watched)} aria-labelledby="diagnosis-title">
      <h2 id="diagnosis-title">{headlineOf(found, running)}</h2>
      {named[0] ? <Advice row={named[0]} job={job} word="What to do:" /> : <div class="advice" />}
      <StagePicture job={job.name} found={found} />
      {named[1] ? <Advice row={named[1]} job={job} word={`Then, for ${named[1].words}, ${share(named[1].share)}:`} /> : null}
      <details class="diagnosis-more">
        <summary>All causes, and how this was measured</summary>
        <ul class="budget">
          {found.budget.map((row) => (
            <Row key={row.cause} row={row} />
          ))}
        </ul>
        <p class="diagnosis-sentence">{found.sentence}</p>
        <p class="faint">{[seenBy(found), ground].filter(Boolean).join(" ")}</p>
      </details>
      <Missing sentences={found.missing ?? []} />
    </section>
  );
}
