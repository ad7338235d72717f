import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, ask } from "../api";
import { ago, bytes, count, dateTime, plural, type TimeZone } from "../format";
import { poll } from "../poll";
import { serviceNow, zoneOf } from "../settings";

// Jobs that were removed: by people, for their age, or because all jobs together took too much room.

const kPeriodMs = 60_000;

interface Removed {
  readonly name: string;
  readonly reason: "deleted" | "age" | "size";
  readonly removed_us: number;
  readonly rows: number;
  readonly bytes: number;
  readonly ended_us: number | null; // null: its rows are still being removed
}

interface RemovedPage {
  readonly items: readonly Removed[];
  readonly next: string | null;
  readonly total: number;
}

const kReasons = { deleted: "deleted by somebody", age: "older than is kept", size: "all jobs took too much room" } as const;

function listRemoved(stop: AbortSignal): Promise<RemovedPage> {
  return ask(address("/removals", { limit: 50 }), "items", { stop });
}

function Row({ job, zone }: { readonly job: Removed; readonly zone: TimeZone }) {
  const at = zone === "relative" ? ago((serviceNow.value - job.removed_us / 1000) / 1000) : dateTime(job.removed_us, zone, false);
  return (
    <li>
      <time dateTime={new Date(job.removed_us / 1000).toISOString()} title={dateTime(job.removed_us, "utc")}>{at}</time>
      <b>{job.name}</b>
      <span>{kReasons[job.reason]}</span>
      <span class="faint">
        {plural(job.rows, "row")}, {bytes(job.bytes)}
        {job.ended_us === null ? " so far" : ""}
      </span>
    </li>
  );
}

/** The removed jobs behind one line that opens. Shows nothing when none was removed, or when the list could not be loaded. */
export function RemovedJobs() {
  const page = useSignal<RemovedPage | null>(null);
  useEffect(() => {
    const opened = poll(async (stop) => void (page.value = await listRemoved(stop)), () => kPeriodMs);
    return () => opened.stop();
  }, [page]);

  if (page.value === null || page.value.items.length === 0) return null;
  const { items, total } = page.value;
  const zone = zoneOf("utc");
  return (
    <details class="removed">
      <summary>{plural(total, "job was removed", "jobs were removed")}</summary>
      {total > items.length ? <p class="faint">The newest {count(items.length)}; all of them are at <code>/api/v1/removals</code>.</p> : null}
      <ol class="transitions">
        {items.map((job) => <Row key={`${job.removed_us} ${job.name}`} job={job} zone={zone} />)}
      </ol>
    </details>
  );
}
