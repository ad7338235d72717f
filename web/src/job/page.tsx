import "uplot/dist/uPlot.min.css";
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { useShortcuts } from "../keys";
import type { Job } from "../model";
import { navigate } from "../router";
import { Fault, Loading } from "../states";
import { kTabs, type Tab } from "../tabs";
import { type JobData, openJob, shownTab } from "./data";
import { viewOf } from "./frame";
import { Crumbs, Head, tabLink, Tabs } from "./head";
import { loadCharts, loadPart, loadTables, partOf, tables } from "./lazy_parts";

// While the job is asked for.
loadPart(shownTab.peek());
loadCharts();

/** Keys 1 to 6 open the parts of the page. */
function useTabKeys(name: string): void {
  const keys = useMemo(
    () => kTabs.map(({ id, word }, i) => ({ keys: `${i + 1}`, help: word, act: () => navigate(tabLink(name, id)) })),
    [name],
  );
  useShortcuts(keys);
}

function Loaded({ data, job, tab }: { readonly data: JobData; readonly job: Job; readonly tab: Tab }) {
  const Page = partOf(tab);
  return (
    <>
      <Head job={job} tab={tab} />
      <Fault what="The job" poll={data.jobPoll} />
      {Page ? <Page key={tab} view={viewOf(data, job)} /> : <Loading what="this part of the page" class="loading-page" />}
    </>
  );
}

const kKeys = [
  { keys: "/", help: "Search jobs", act: () => (navigate("/jobs"), window.setTimeout(() => document.getElementById("search")?.focus(), 50)) },
  { keys: "Escape", help: "Leave the chart or the field", act: () => (document.activeElement as HTMLElement).blur() },
];

export function JobPage({ name, tab }: { readonly name: string; readonly tab: Tab }) {
  const data = useSignal<JobData | null>(null);
  useShortcuts(kKeys);
  useTabKeys(name);
  useLayoutEffect(() => loadPart(tab), [tab]);
  const word = kTabs.find(({ id }) => id === tab)?.word;
  useEffect(() => void (document.title = `${tab === "overview" ? "" : `${word} · `}${name} · Stepscope`), [name, tab]);
  useLayoutEffect(() => {
    const opened = openJob(name);
    data.value = opened;
    return () => opened.stop();
  }, [name, data]);

  const opened = data.value;
  const job = opened?.job.value ?? null;
  const error = opened?.jobPoll.state.value.error ?? null;
  const { NoJob } = tables.value ?? {};
  const gone = error?.status === 404;
  useEffect(() => void (gone && loadTables()), [gone]);
  if (opened !== null && job !== null) return <Loaded data={opened} job={job} tab={tab} />;
  if (gone && NoJob) return <NoJob name={name} />;
  return (
    <>
      <Crumbs group="" />
      <div class="job-top">
        <div class="job-title">
          <h1>{name}</h1>
        </div>
        <Tabs name={name} tab={tab} />
      </div>
      {opened === null || error === null ? <Loading what="the job" class="loading-page" /> : <Fault what="The job" poll={opened.jobPoll} />}
    </>
  );
}
