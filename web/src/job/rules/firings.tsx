import { duration, instant, plural } from "../../format";
import type { Finding } from "../../model";
import { search } from "../../router";
import { withKeys } from "../../query";
import { tabPath } from "../../tabs";
import type { View } from "../frame";
import { startMs, type Span } from "../view";

// The times in which a rule fired: as marks along the whole job, and as a list with a link to each.

const kMost = 20;
const kMargin = 0.1; // part of the length of a finding that is shown before and after it

interface FiringsProps {
  readonly found: readonly Finding[];
  readonly view: View;
  readonly name: string;
}

const lengthOf = ({ from_us, to_us }: Finding) => (to_us - from_us) / 1e6;

function wholeWith(found: readonly Finding[], { whole }: View): Span {
  return {
    fromMs: Math.min(whole.fromMs, ...found.map(({ from_us }) => from_us / 1000)),
    toMs: Math.max(whole.toMs, ...found.map(({ to_us }) => to_us / 1000)),
  };
}

function Strip({ found, view, words }: FiringsProps & { readonly words: string }) {
  const { fromMs, toMs } = wholeWith(found, view);
  const part = (ms: number) => (100 * (ms - fromMs)) / (toMs - fromMs);
  return (
    <svg class="firings" width="100%" height="14" role="img" aria-label={words}>
      <rect class="budget-all" width="100%" y="5" height="4" />
      {found.map(({ finding, from_us, to_us }) => {
        const width = Math.max(0.3, part(to_us / 1000) - part(from_us / 1000));
        return <rect key={finding} class="budget-lost" x={`${Math.min(part(from_us / 1000), 100 - width).toFixed(3)}%`} width={`${width.toFixed(3)}%`} height="14" />;
      })}
    </svg>
  );
}

function whereOf({ node, device, rank }: Finding): string {
  return [rank === null ? "" : `rank ${rank}`, node ?? "", device === null || device === "" ? "" : `device ${device}`].filter(Boolean).join(", ");
}

/** The link to the charts with the time of the finding, and a little more on both sides. */
function linkOf(finding: Finding, { job }: View): string {
  const start = startMs(job);
  const margin = Math.max(1000, (finding.to_us - finding.from_us) / 1000 * kMargin);
  const from = Math.max(0, finding.from_us / 1000 - start - margin);
  const to = finding.to_us / 1000 - start + margin;
  const tab = finding.rank === null ? "system" : "steps";
  return tabPath(job.name, tab) + withKeys(search.value, { from: `${Math.round(from)}`, to: `${Math.round(to)}`, show: null, rank: finding.rank === null ? null : `${finding.rank}` });
}

export function Firings(props: FiringsProps) {
  const { found, view, name } = props;
  const total = found.reduce((sum, each) => sum + lengthOf(each), 0);
  const words = `${plural(found.length, "time", "times")} it fired, ${duration(total)} in all`;
  const longest = [...found].sort((a, b) => lengthOf(b) - lengthOf(a)).slice(0, kMost).sort((a, b) => a.from_us - b.from_us);
  return (
    <>
      <Strip {...props} words={words} />
      <details class="rule-history">
        <summary>
          {words}
          <span class="unseen"> ({name})</span>
        </summary>
        <ul class="firing-list">
          {longest.map((each) => (
            <li key={each.finding}>
              <a href={linkOf(each, view)}>
                {instant(each.from_us / 1000, view.shared.startMs, view.zone)} to {instant(each.to_us / 1000, view.shared.startMs, view.zone)}
              </a>{" "}
              <span class="faint">
                {duration(lengthOf(each))}
                {whereOf(each) === "" ? "" : `, ${whereOf(each)}`}: {each.sentence}
              </span>
            </li>
          ))}
        </ul>
        {found.length > longest.length ? <p class="faint">The {longest.length} longest of {found.length}.</p> : null}
      </details>
    </>
  );
}
