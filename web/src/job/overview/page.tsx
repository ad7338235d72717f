import { useEffect, useMemo } from "preact/hooks";
import { Loading } from "../../states";
import type { View } from "../frame";
import { FailureCard } from "../head";
import { charts, facts, loadFacts, loadTables, tables } from "../lazy_parts";
import { panelsOf, rowsOf } from "../panels";
import { stepPanel } from "../steps/step_panels";
import { stallsOf, withStalls } from "../stalls";
import { StepsLoading, TimeArea } from "../time_area";
import { isRunning } from "../view";
import { Figures } from "./figures";
import { Parts } from "./parts";
import { Verdict } from "./verdict";

// The overview: the verdict above the fold, the job in numbers, its three charts that say most, its rules in short, its facts.

export function Page({ view }: { readonly view: View }) {
  const { job, data, metrics, steps, rank, found, shown, shared } = view;
  const rules = data.rules.value;
  const stalls = useMemo(() => stallsOf(job, found), [job, found]);
  const panels = useMemo(() => (metrics === null ? [] : withStalls(panelsOf(job, metrics, rules, rowsOf(job, "overview")), stalls)), [job, metrics, rules, stalls]);
  const stepsPanel = useMemo(() => (steps === null ? null : { ...stepPanel(found), stalls }), [steps === null, found, stalls]);
  const stepsFailed = data.stepsPoll.value?.state.value.error ?? null;
  // The facts wait until the height of the charts is known, so that nothing jumps.
  const settled = ((metrics !== null && charts.value !== null) || data.metricsPoll.value?.state.value.error) && (steps !== null || stepsFailed);
  const { Facts, Issues, Remove } = facts.value ?? {};
  const { NodeUsage } = tables.value ?? {};
  useEffect(() => {
    if (metrics === null && !settled) return;
    loadTables();
    loadFacts();
  }, [metrics !== null, Boolean(settled)]);
  const loading = (
    <>
      <StepsLoading job={job} />
      {rowsOf(job, "overview").map((_, i) => (
        <Loading key={i} what="the chart" class="card loading-chart" />
      ))}
    </>
  );
  return (
    <>
      <FailureCard job={job} />
      <Verdict job={job} />
      <Figures job={job} metrics={metrics} steps={steps} span={shown} rank={rank} zoomed={view.zoomed} />
      <Parts found={job.diagnosis} running={isRunning(job)} />
      <TimeArea
        view={view}
        title="Charts"
        loading={loading}
        draw={({ Chart }) => (
          <>
            {stepsPanel !== null ? <Chart key="steps" panel={stepsPanel} {...shared} /> : null}
            {stepsPanel === null && stepsFailed === null ? <StepsLoading job={job} /> : null}
            {panels.map((panel) => (
              <Chart key={panel.id} panel={panel} {...shared} />
            ))}
          </>
        )}
      />
      {settled && Issues ? <Issues job={job} /> : null}
      {settled && Facts && NodeUsage ? <NodeUsage view={view} /> : null}
      {settled && Facts ? <Facts job={job} zone={view.zone} startMs={shared.startMs} /> : null}
      {settled && Remove ? <Remove job={job} /> : null}
    </>
  );
}
