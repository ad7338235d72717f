import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, ask } from "../../api";
import { listRules } from "../../rule_types";
import type { Finding, RuleType } from "../../model";
import { poll, type Poll } from "../../poll";
import { Fault, Loading } from "../../states";
import type { View } from "../frame";
import { isRunning } from "../view";
import { Rules, tunedRule } from "./rules";
import { Tune } from "./tune";

// All rules of the job: the verdict of each, when it fired, what to do then, its history and its parameters.

const kMostFindings = 500;
const kPeriodMs = 10_000;

export interface Findings {
  readonly items: readonly Finding[];
  readonly total: number;
}

export function Page({ view }: { readonly view: View }) {
  const { job, data, zone, shared } = view;
  const findings = useSignal<Findings | null>(null);
  const asked = useSignal<Poll | null>(null);
  const catalog = useSignal<ReadonlyMap<string, RuleType> | null>(null);
  const running = isRunning(job);
  useEffect(() => {
    const read = async (stop: AbortSignal) => {
      findings.value = await ask<Findings>(address(`/jobs/${encodeURIComponent(job.name)}/findings`, { limit: kMostFindings }), "items", { stop });
    };
    const opened = poll(read, () => (running ? kPeriodMs : null));
    asked.value = opened;
    return () => opened.stop();
  }, [job.name, running]);
  useEffect(() => {
    const stop = new AbortController();
    // Without the catalog only the advice is missing.
    listRules(stop.signal).then((types) => (catalog.value = new Map(types.map((type) => [type.name, type]))), () => (catalog.value = new Map()));
    return () => stop.abort();
  }, []);
  const failed = asked.value?.state.value.error ?? null;
  return (
    <>
      {/* All of it at once, so that nothing jumps. */}
      {catalog.value !== null && asked.value !== null && (findings.value !== null || failed !== null) ? (
        <>
          <Fault what="When the rules fired" poll={asked.value} />
          <Rules view={view} findings={findings.value} catalog={catalog.value} />
        </>
      ) : (
        <Loading what="the rules" class="card loading-list" />
      )}
      <Tune key={job.name} job={job} rule={tunedRule} zone={zone} startMs={shared.startMs} changed={() => data.jobPoll.retry()} />
    </>
  );
}
