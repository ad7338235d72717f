import { useEffect, useMemo } from "preact/hooks";
import { Loading } from "../../states";
import type { View } from "../frame";
import { lazily, loadTables } from "../lazy_parts";
import { panelsOf, rowsOf } from "../panels";
import { stallsOf, withStalls } from "../stalls";
import { StepsLoading, TimeArea, waits } from "../time_area";
import { isRunning } from "../view";
import { Histogram } from "./histogram";
import { isAsync, phasePanel } from "./phase_panel";
import { ranksNote } from "./ranks_note";
import { useSingleSteps } from "./single_steps";
import { stepPanel } from "./step_panels";

// The steps of one rank: how long each took and where in it the time went, over all of them and along the job.

const [below, loadBelow] = lazily(() => import("./tables_chunk"));

export function Page({ view }: { readonly view: View }) {
  const { job, data, metrics, steps, found, shared } = view;
  const drawn = useSingleSteps(view);
  const rules = data.rules.value;
  const launches = found !== undefined && isAsync(job, found.rank);
  const stalls = useMemo(() => stallsOf(job, drawn), [job, drawn]);
  const panels = useMemo(() => (metrics === null ? [] : withStalls(panelsOf(job, metrics, rules, rowsOf(job, "steps")), stalls)), [job, metrics, rules, stalls]);
  const stepsPanel = useMemo(() => (steps === null ? null : { ...stepPanel(drawn), stalls }), [steps === null, drawn, stalls]);
  const phases = useMemo(() => (drawn && drawn.steps > 0 ? phasePanel(drawn, launches) : null), [drawn, launches]);
  useEffect(() => {
    if (metrics === null) return;
    loadTables();
    loadBelow();
  }, [metrics !== null]);
  const { Annotations, PhaseTable } = below.value ?? {};
  const stepsFailed = data.stepsPoll.value?.state.value.error ?? null;
  const settled = !waits(view); // the tables below the charts come when the height of these is known
  // The charts come together: those of the steps may need more room than their placeholders.
  const loading = <><StepsLoading job={job} tall /><Loading what="the chart" class="card loading-chart" /></>;
  return (
    <>
      <TimeArea
        view={view}
        title="Charts of the steps"
        ranksNote={steps === null ? "" : ranksNote(steps)}
        loading={loading}
        draw={({ Chart }) => stepsPanel === null && stepsFailed === null ? loading : (
          <>
            {stepsPanel !== null ? <Chart key="steps" panel={stepsPanel} {...shared} /> : null}
            {phases !== null ? <Chart key="phases" panel={phases} {...shared} /> : null}
            {stepsPanel !== null && phases === null && isRunning(job) ? (
              <>
                <p class="card loading-chart chart-wait">The phases are drawn here once a step was seen.</p>
                <p class="card loading-chart chart-wait">How long the steps took is drawn here once a step was seen.</p>
              </>
            ) : null}
            {found && found.steps > 0 ? <Histogram found={found} job={job.name} /> : null}
            {panels.map((panel) => (
              <Chart key={panel.id} panel={panel} {...shared} />
            ))}
          </>
        )}
      />
      {settled && PhaseTable && steps !== null && steps.ranks.length > 0 ? <PhaseTable steps={steps} /> : null}
      {settled && Annotations && found && found.annotations.length > 0 ? <Annotations found={found} /> : null}
    </>
  );
}
