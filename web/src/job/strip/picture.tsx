import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { duration, instant, plural, type TimeZone } from "../../format";
import type { Job, RankSteps } from "../../model";
import { poll } from "../../poll";
import { isRunning, type Span, startMs } from "../view";
import { checkpoints, findingMarks, type Lists, type Mark, readLists, restarts, windowMarks } from "./marks";

// The marks on the strip of the whole job, each with its words for the pointer, and one sentence for who does not see them.

const kPeriodMs = 30_000;
const kMarkShare = 1 / 120; // the part of the strip that a mark takes

/** The lists of a job, kept while its parts are looked at. */
let remembered: { readonly job: string; readonly ended: boolean; readonly lists: Lists } | null = null;

export function useLists(job: Job): Lists | null {
  const asked = useSignal(0);
  const running = isRunning(job);
  useEffect(() => {
    if (!running && remembered?.job === job.name && remembered.ended) return undefined;
    const opened = poll(async (stop) => {
      const lists = await readLists(job.name, stop);
      remembered = { job: job.name, ended: !running, lists };
      asked.value += 1;
    }, () => (running ? kPeriodMs : null));
    return () => opened.stop();
  }, [job.name, running]);
  void asked.value; // marks are drawn when they come
  return remembered?.job === job.name ? remembered.lists : null;
}

interface MarksProps {
  readonly job: Job;
  readonly lists: Lists | null;
  readonly found: RankSteps | undefined;
  readonly epochs: readonly number[];
  readonly whole: Span;
  readonly zone: TimeZone;
  readonly high: number;
  /** The place of a time, as a part of the strip's width. */
  readonly part: (ms: number) => string;
  readonly wide: (fromMs: number, toMs: number) => string;
}

interface Drawn {
  readonly fired: readonly Mark[];
  readonly windows: readonly Mark[];
  readonly starts: readonly number[];
  readonly saved: readonly number[];
}

function sentenceOf({ lists, epochs }: MarksProps, { windows, starts, saved }: Drawn): string {
  const counts: readonly (readonly [number, string, string?])[] = [
    [lists?.findings.length ?? 0, "time in which a rule fired", "times in which rules fired"], [windows.length, "recorded window"],
    [starts.length, "restart"], [epochs.length, "new epoch"], [saved.length, "checkpoint"],
  ];
  const words = counts.filter(([many]) => many > 0).map(([many, one, several]) => plural(many, one, several));
  return words.length === 0 ? "" : `Marks on the strip: ${words.join(", ")}.`;
}

export function Marks(props: MarksProps) {
  const { job, lists, found, epochs, whole, zone, high, part, wide } = props;
  const start = startMs(job);
  const drawn = useMemo<Drawn>(() => ({
    fired: findingMarks(lists?.findings ?? [], (whole.toMs - whole.fromMs) * kMarkShare, start, zone),
    windows: windowMarks(lists?.windows ?? []),
    starts: restarts(lists?.events ?? []),
    saved: checkpoints(found),
  }), [lists, found, whole.fromMs, whole.toMs, zone]);
  const { fired, windows, starts, saved } = drawn;
  const tick = (name: string, word: string, top: number, bottom: number) => (ms: number) => (
    <line key={`${name}${ms}`} class={`strip-${name}`} x1={part(ms)} x2={part(ms)} y1={top} y2={bottom}>
      <title>{`${word}, ${instant(ms, start, zone)}`}</title>
    </line>
  );
  const sentence = sentenceOf(props, drawn);
  return (
    <>
      {sentence === "" ? null : <desc>{sentence}</desc>}
      <defs>
        <pattern id="strip-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class="strip-hatch" width="2" height="5" />
        </pattern>
      </defs>
      {windows.map(({ fromMs, toMs, words }) => (
        <rect key={words} class="strip-window" x={part(fromMs)} width={wide(fromMs, toMs)} height={high} fill="url(#strip-hatch)">
          <title>{`${words}: ${duration((toMs - fromMs) / 1000)} from ${instant(fromMs, start, zone)}`}</title>
        </rect>
      ))}
      {saved.map(tick("checkpoint", "Checkpoint", high - 6, high))}
      {epochs.map(tick("epoch", "New epoch", 0, 8))}
      {starts.map(tick("restart", "Restart", 0, high))}
      {fired.map(({ fromMs, words }) => (
        <svg key={fromMs} x={part(fromMs)} y={high} overflow="visible">
          <path class="strip-fired" d="M0 -10L6 0H-6z">
            <title>{words}</title>
          </path>
        </svg>
      ))}
    </>
  );
}
