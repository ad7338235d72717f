import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError } from "../../api";
import { plural, type TimeZone } from "../../format";
import type { RuleChange, RuleChanges } from "../../model";
import { faultWords } from "../../states";
import { RuleWord } from "../../status";
import { Changes } from "../changes";
import { readHistory } from "./tune_calls";

// The history of a rule's status and the reason of each change; it is loaded when it is opened.

interface HistoryProps {
  readonly job: string;
  readonly name: string;
  readonly zone: TimeZone;
  readonly startMs: number;
}

/** A rule that ended without a judgement has the status of one that found nothing. */
const isUnknown = ({ status, message }: RuleChange) => status === "NoIssuesFound" && message.startsWith("not judged");

function List({ found, zone, startMs }: { readonly found: RuleChanges } & Pick<HistoryProps, "zone" | "startMs">) {
  const rows = found.items.map((row) => ({ us: row.start_time_us, words: row.message, state: <RuleWord status={row.status} unknown={isUnknown(row)} /> }));
  const { length } = rows;
  return (
    <>
      {length === 0 ? <p class="tune-help">It has been in progress since the job was created.</p> : <Changes rows={rows} zone={zone} startMs={startMs} />}
      {found.total > length ? <p class="tune-help">The first {length} of {plural(found.total, "change")}.</p> : null}
    </>
  );
}

function Body({ job, name, zone, startMs }: HistoryProps) {
  const found = useSignal<RuleChanges | null>(null);
  const fault = useSignal("");
  useEffect(() => {
    const stop = new AbortController();
    readHistory(job, name, stop.signal).then(
      (page) => (found.value = page),
      (reason: unknown) => stop.signal.aborted || (fault.value = reason instanceof ApiError ? faultWords(reason) : String(reason)),
    );
    return () => stop.abort();
  }, []);
  if (found.value !== null) return <List found={found.value} zone={zone} startMs={startMs} />;
  return fault.value === "" ? <p role="status">Loading it …</p> : <p role="alert" class="notice notice-red">It could not be loaded. {fault.value}</p>;
}

export function RuleHistory(props: HistoryProps) {
  const open = useSignal(false);
  return (
    <details class="rule-history" onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>What happened</summary>
      {open.value ? <Body {...props} /> : null}
    </details>
  );
}
