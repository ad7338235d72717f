import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ago, count, plural } from "../format";
import { useShortcuts } from "../keys";
import { valueOf, withKeys } from "../query";
import { search } from "../router";
import { session } from "../session";
import { now } from "../settings";
import { Empty, Fault, Loading } from "../states";
import { FilterBar } from "./filter_bar";
import { inWords, isFiltered, kCleared, listKey } from "./filters";
import { type List, openList } from "./list";
import { RemovedJobs } from "./removed";
import { JobTable } from "./table";
import { CompareTicked } from "./ticked";

/** Moves the focus to the next or previous job of the list. */
function step(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>(".job-link")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const to = at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by));
  links[to]?.focus();
}

const kKeys = [
  { keys: "/", help: "Search by name", act: () => document.getElementById("search")?.focus() },
  { keys: "j", help: "Next job (Enter opens it)", act: () => step(1) },
  { keys: "k", help: "Previous job", act: () => step(-1) },
  { keys: "Space", help: "Tick the job for a comparison", act: () => {} }, // the row's own: elsewhere it scrolls or presses a button
  { keys: "Escape", help: "Leave the field or the row", act: () => (document.activeElement as HTMLElement).blur() },
];

function FirstJob() {
  const { origin } = window.location;
  const found = session.value;
  const token = found === null || found.access === "open" ? "" : "--token-file agent.token ";
  return (
    <Empty title="No jobs yet">
      {found === null || found.scopes.length === 0 ? null : <p>Your token shows only the jobs {found.scopes.join(", ")}.</p>}
      <p>Run a training under the agent and it appears here, live:</p>
      <pre tabIndex={0} aria-label="Three lines to send a first job">
        <code>
          {`stepscope-agent run --server ${origin} ${token}--job my-first-job -- python train.py\n\n`}
          {`import stepscope                       # in train.py, for step times\n`}
          {`for batch in stepscope.loader(batches): # the wait for data; stepscope.step() ends a step`}
        </code>
      </pre>
    </Empty>
  );
}

function NoHit() {
  return (
    <Empty title={`No job matches ${inWords(search.value)}`}>
      <p>
        <a class="button" href={`/jobs${withKeys(search.value, kCleared)}`}>
          Clear the filters
        </a>
      </p>
    </Empty>
  );
}

function Pager({ next }: { readonly next: string | null }) {
  const later = valueOf(search.value, "cursor") !== "";
  if (!later && next === null) return null;
  return (
    <nav class="pager" aria-label="Pages of the list">
      {later ? <a href={`/jobs${withKeys(search.value, { cursor: null })}`}>‹ First page</a> : <span />}
      {next === null ? null : <a href={`/jobs${withKeys(search.value, { cursor: next })}`}>Next page ›</a>}
    </nav>
  );
}

function Freshness({ list }: { readonly list: List }) {
  const page = list.page.value;
  const { okAt } = list.poll.state.value;
  if (page === null || okAt === null) return <p class="faint list-note">&nbsp;</p>;
  const some = page.total > page.items.length ? `${count(page.items.length)} of ${plural(page.total, "job")}` : plural(page.total, "job");
  return (
    <p class="faint list-note">
      {some} · updated {ago((now.value - okAt) / 1000)}
    </p>
  );
}

/** The way from the rows on screen to those of the newest answer, where they are others. */
function Fresh({ list }: { readonly list: List }) {
  const fresh = list.fresh.value;
  const left = list.page.value?.items.filter((row) => row.left !== undefined).length ?? 0;
  if (fresh + left === 0) return null;
  const words = [fresh > 0 ? plural(fresh, "new job") : "", left > 0 ? `${plural(left, "job")} no longer in this list` : ""].filter(Boolean);
  return (
    <button type="button" class="fresh" onClick={list.showFresh}>
      {words.join(" · ")} · show
    </button>
  );
}

function Body({ list }: { readonly list: List }) {
  const page = list.page.value;
  if (page === null) return list.poll.state.value.error ? null : <Loading what="the jobs" class="loading-list" />;
  if (page.items.length > 0) {
    return (
      <div class={list.stale.value ? "stale" : undefined} aria-busy={list.stale.value}>
        <JobTable items={page.items} />
      </div>
    );
  }
  if (list.stale.value) return <Loading what="the jobs" class="loading-list" />;
  return isFiltered(search.value) || valueOf(search.value, "cursor") ? <NoHit /> : <FirstJob />;
}

function useList(): List | null {
  const list = useSignal<List | null>(null);
  const query = listKey(search.value);
  useEffect(() => {
    const opened = openList(query, list.peek()?.page.peek() ?? null);
    list.value = opened;
    return () => opened.poll.stop();
  }, [query, list]);
  return list.value;
}

export function JobsPage() {
  const list = useList();
  useShortcuts(useMemo(() => kKeys, []));
  useEffect(() => void (document.title = "Jobs · Stepscope"), []);
  return (
    <>
      <div class="page-head">
        <h1>Training jobs</h1>
        <CompareTicked />
        {list === null ? <p class="faint list-note">&nbsp;</p> : <Freshness list={list} />}
      </div>
      <FilterBar total={list?.page.value?.total ?? null} />
      {list === null ? null : <Fault what="The list of jobs" poll={list.poll} />}
      {list === null ? null : <Fresh list={list} />}
      {list === null ? <Loading what="the jobs" class="loading-list" /> : <Body list={list} />}
      {list === null ? null : <Pager next={list.page.value?.next ?? null} />}
      <RemovedJobs />
    </>
  );
}
