import { dateTime, elapsed } from "../format";
import type { Job } from "../model";
import { serviceNow } from "../settings";
import { Empty } from "../states";
import type { View } from "./frame";
import { removedUntilUs } from "./view";

/** Shown while there is no sample at all: what the page waits for, and after a minute what to check. */
export function NoSamples({ job }: { readonly job: Job }) {
  const seconds = (serviceNow.value - job.created_us / 1000) / 1000;
  if (job.ended_us !== null) return <Empty title="No samples"><p>The job ended before its agents sent any.</p></Empty>;
  return (
    <Empty title={`Waiting for the first sample${job.nodes[0] ? ` from ${job.nodes[0].name}` : ""}`}>
      <p>The job was created {elapsed(seconds)} ago. Samples arrive every 2 s once its agent runs.</p>
      {seconds < 60 ? null : (
        <ul>
          <li>Does the agent run, with this job’s name?</li>
          <li>Can it reach this service at {window.location.origin}?</li>
          <li>Is the clock of its node right?</li>
        </ul>
      )}
    </Empty>
  );
}

export function NoJob({ name }: { readonly name: string }) {
  return (
    <Empty title="No such job" whole>
      <p>
        There is no job named “{name}”. It may have been deleted. Go to <a href="/jobs">the jobs</a>.
      </p>
    </Empty>
  );
}

/** A notice about the time of which nothing finer than rollups is left. */
export function Removed({ job, shown, zone }: Pick<View, "job" | "shown" | "zone">) {
  const us = removedUntilUs(job, shown);
  if (us === null) return null;
  return (
    <p class="notice notice-grey" role="status">
      Samples and steps before {dateTime(us, zone === "local" ? "local" : "utc")} were removed. What is kept of samples is the least, mean and
      greatest value of each 10 s.
    </p>
  );
}
