import { useEffect, useMemo } from "preact/hooks";
import { valueOf } from "../../query";
import { search } from "../../router";
import { Loading } from "../../states";
import { paused } from "../data";
import type { View } from "../frame";
import { charts, loadTables, tables } from "../lazy_parts";
import { isFolded, panelsOf } from "../panels";
import { customMetricPanel } from "./custom_panel";
import { DeviceChoice } from "./device_choice";
import { chosen, shownPart } from "./devices";
import { systemRows } from "./rows";
import { stepPanel } from "../steps/step_panels";
import { stallsOf, withStalls } from "../stalls";
import { TimeArea, waits } from "../time_area";
import { isRunning } from "../view";
import { CustomMetrics } from "./custom_metrics";

// Everything that was sampled of the job's nodes, beside the time of its steps, on one axis of time.

export function Page({ view }: { readonly view: View }) {
  const { job, data, metrics: all, steps, found, shared } = view;
  const devices = valueOf(search.value, "dev");
  const metrics = useMemo(() => (all === null ? null : shownPart(all, chosen(search.peek()))), [all, devices]);
  const rules = data.rules.value;
  const stalls = useMemo(() => stallsOf(job, found), [job, found]);
  const panels = useMemo(() => (metrics === null ? [] : withStalls(panelsOf(job, metrics, rules, systemRows(job)), stalls)), [job, metrics, rules, stalls]);
  const stepsPanel = useMemo(() => (steps === null || steps.ranks.length === 0 ? null : { ...stepPanel(found), stalls }), [steps === null, found, stalls]);
  const customPanels = useMemo(() => (metrics === null ? [] : data.customAsked.value.map((name) => customMetricPanel(name, metrics, rules))), [metrics, rules]);
  const { Chart } = charts.value ?? {};
  const { NodeUsage } = tables.value ?? {};
  const drawCustomMetric = (metric: string) => Chart ? customPanels.filter(({ id }) => id === metric).map((panel) => <Chart key={metric} panel={panel} {...shared} />) : null;
  useEffect(() => void (metrics !== null && loadTables()), [metrics !== null]);
  const withSteps = job.ranks.length > 0;
  const loading = Array.from({ length: systemRows(job).filter((row) => !row.rare).length + (withSteps ? 1 : 0) }, (_, i) => (
    <Loading key={i} what="the chart" class="card loading-chart" />
  ));
  return (
    <TimeArea
      view={view}
      title="Charts of the nodes"
      loading={loading}
      above={<DeviceChoice job={job} metrics={all} span={view.shown} />}
      draw={({ Chart: Drawn }) => (
        <>
          {panels.map((panel) => (
            <Drawn key={panel.id} panel={panel} {...shared} />
          ))}
          {withSteps && stepsPanel !== null ? <Drawn key="steps" panel={stepsPanel} {...shared} /> : null}
        </>
      )}
    >
      {metrics === null ? null : <CustomMetrics job={job} data={data} follow={isRunning(job) && !paused.value} folded={isFolded(job)} draw={drawCustomMetric} />}
      {metrics !== null && metrics.series.length > 0 && NodeUsage && !waits(view) ? <NodeUsage view={view} /> : null}
    </TimeArea>
  );
}
