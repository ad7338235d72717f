import type { ComponentChildren } from "preact";
import { count, hours, number, share } from "../format";
import { valueOf, withKeys } from "../query";
import { search } from "../router";
import { tabPath } from "../tabs";
import { type Fleet, type FleetSums, kBy } from "./calls";
import { linkOf, nameOf } from "./links";

// Who held the GPUs, and the jobs that lost most.

const causeWords = ({ first_cause: first }: FleetSums): string => {
  if (first === null) return "–";
  return first.cause === "unknown" ? "not known" : `${first.words}, ${hours(first.gpu_hours)}`;
};

const kSorts = { lost: (sums: FleetSums) => sums.lost_gpu_hours, held: (sums: FleetSums) => sums.gpu_hours, jobs: (sums: FleetSums) => sums.jobs } as const;
type Sort = keyof typeof kSorts;
export const sortOf = (text: string): Sort => (Object.hasOwn(kSorts, text) ? (text as Sort) : "lost");

/** A head that sorts by its column, as a link, so that the order stands in the address. */
function SortHead({ sort, now, children }: { readonly sort: Sort; readonly now: Sort; readonly children: ComponentChildren }) {
  return (
    <th scope="col" class="number sorts" aria-sort={sort === now ? "descending" : undefined}>
      <a href={`/fleet${withKeys(search.value, { sort: sort === "lost" ? null : sort })}`}>
        {children} {sort === now ? <span aria-hidden="true">▼</span> : null}
      </a>
    </th>
  );
}

export function Holders({ found }: { readonly found: Fleet }) {
  const by = found.by;
  const word = kBy.find(([each]) => each === by)?.[1] ?? "Key";
  const now = sortOf(valueOf(search.value, "sort"));
  const rows = [...found.rows].sort((a, b) => kSorts[now](b.sums) - kSorts[now](a.sums));
  const money = found.total.cost !== null;
  const more = found.rows_total - rows.length;
  return (
    <section class="card facts" aria-labelledby="fleet-by">
      <div class="section-head">
        <h2 id="fleet-by">By {word === "GPU model" ? word : word.toLowerCase()}</h2>
        <p>{more > 0 ? `the ${count(rows.length)} that lost most of ${count(found.rows_total)}` : `${count(rows.length)} in all`}</p>
      </div>
      {by === "node" ? <p class="faint">A job's hours are spread evenly over its GPUs; what a node lost is its part of that, not measured on it.</p> : null}
      {by === "cause" ? <p class="faint">Each row is the jobs that lost most to this cause, with all that they lost, to other causes too. The bar above has the hours of each cause.</p> : null}
      <div class="scroll row-cards" tabIndex={0} role="region" aria-label={`Hours by ${word}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">{by === "cause" ? "Largest loss" : word}</th>
              <SortHead sort="lost" now={now}>Lost</SortHead>
              <SortHead sort="held" now={now}>Held</SortHead>
              <th scope="col" class="number">Busy, of judged</th>
              <th scope="col" class="number">Not judged</th>
              {money ? <th scope="col" class="number">Lost, money</th> : null}
              <th scope="col">Most lost to</th>
              {by === "job" ? null : <SortHead sort="jobs" now={now}>Jobs</SortHead>}
              {by === "job" ? null : <th scope="col" class="number">With issues</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, sums }) => (
              <tr key={key ?? ""}>
                <th scope="row" class="wrap">{key === null ? <span class="faint">{nameOf(found, key)}</span> : <a href={linkOf(by, key)}>{nameOf(found, key)}</a>}</th>
                <td class="number" data-label="Lost">{hours(sums.lost_gpu_hours)}</td>
                <td class="number" data-label="Held">{hours(sums.gpu_hours)}</td>
                <td class="number" data-label="Busy, of judged">{sums.busy_share === null ? "–" : share(sums.busy_share)}</td>
                <td class="number" data-label="Not judged">{hours(sums.not_judged_gpu_hours)}</td>
                {money ? <td class="number" data-label="Lost, money">{number(sums.lost_cost)}</td> : null}
                <td class="wrap" data-label="Most lost to">{causeWords(sums)}</td>
                {by === "job" ? null : <td class="number" data-label="Jobs">{count(sums.jobs)}</td>}
                {by === "job" ? null : <td class="number" data-label="With issues">{count(sums.jobs_with_issues)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The jobs that lost most: what each holds, and its diagnosis in one sentence. */
export function Losses({ found }: { readonly found: Fleet }) {
  const jobs = found.jobs.filter(({ sums }) => sums.lost_gpu_hours > 0).slice(0, 10);
  if (jobs.length === 0) return null;
  return (
    <section class="card facts" aria-labelledby="fleet-losses">
      <div class="section-head">
        <h2 id="fleet-losses">Jobs that lost most</h2>
      </div>
      <ol class="fleet-losses">
        {jobs.map((job) => (
          <li key={job.name}>
            <p>
              <a href={tabPath(job.name, "overview")}>{job.name}</a> <b>{hours(job.sums.lost_gpu_hours)} lost</b>{" "}
              <span class="faint">
                of {hours(job.sums.gpu_hours)}, {count(job.gpus)} × {job.gpu ?? "GPU"}
                {job.user === null ? "" : `, ${job.user}`}
                {job.sums.running_jobs > 0 ? ", running" : ""}
              </span>
            </p>
            {job.sentence === null ? null : <p>{job.sentence}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}
