import { useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import { address, ApiError, kEveryMetric, readMetrics } from "../../api";
import { plural } from "../../format";
import type { Job, Metrics } from "../../model";
import { type Poll, poll } from "../../poll";
import { Fault, Loading } from "../../states";
import type { JobData } from "../data";
import { chooseCharted, type SeriesCounts, withAnswer } from "./custom_metric_names";

// The job's custom metrics. Their names are found by asking for one bin of every metric: once for the whole
// job, then every 30 s for the time since. Their samples come in the call for all charts.

const kPeriodMs = 30_000;
const kLateUs = 60e6; // some samples arrive this much later than others

interface CustomMetricsProps {
  readonly job: Job;
  readonly data: JobData;
  readonly follow: boolean;
  readonly folded: boolean;
  /** The chart of a metric that is in `data.metrics`. */
  readonly draw: (metric: string) => ComponentChild;
}

/** Asks for one bin of every metric; where these are too many series for one answer, only for those of the first node. */
async function readNames(job: Job, fromUs: number | null, stop: AbortSignal): Promise<Metrics> {
  const what = { ...kEveryMetric, from_us: fromUs };
  try {
    return await readMetrics(job.name, what, stop);
  } catch (fault) {
    const [first] = job.nodes;
    if (!(fault instanceof ApiError) || fault.status !== 400 || !first) throw fault;
    return readMetrics(job.name, { ...what, node: first.name }, stop);
  }
}

function useNames({ data, follow, folded }: CustomMetricsProps): Poll | null {
  const opened = useSignal<Poll | null>(null);
  useEffect(() => {
    let known: SeriesCounts = new Map();
    let fromUs: number | null = null;
    const ask = async (stop: AbortSignal) => {
      const job = data.job.peek() as Job;
      try {
        const answer = await readNames(job, fromUs, stop);
        known = withAnswer(known, answer);
        fromUs = answer.to_us === null ? null : Math.max(0, answer.to_us - kLateUs);
      } finally {
        if (!stop.aborted) data.customMetrics.value = chooseCharted(known, folded);
      }
    };
    const names = poll(ask, () => (follow ? kPeriodMs : null));
    opened.value = names;
    return () => names.stop();
  }, [data, follow, folded]);
  return opened.value;
}

/** The custom metrics that have no chart, each with a link to its samples. */
function Uncharted({ job, names }: { readonly job: Job; readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <details class="custom-metrics-uncharted">
      <summary>{plural(names.length, "more metric has", "more metrics have")} no chart here</summary>
      <ul>
        {names.map((metric) => (
          <li key={metric}>
            <a href={address(`/jobs/${encodeURIComponent(job.name)}/metrics`, { metric })}>{metric}</a>
          </li>
        ))}
      </ul>
    </details>
  );
}

export function CustomMetrics(props: CustomMetricsProps) {
  const { job, data, draw } = props;
  const names = useNames(props);
  const asked = data.customAsked.value;
  const { charted, uncharted } = data.customMetrics.value ?? { charted: [], uncharted: [] };
  const fault = names === null ? null : <Fault what="The list of the job’s own metrics" poll={names} />;
  if (charted.length + uncharted.length === 0) return fault;
  return (
    <section class="custom-metrics" aria-labelledby="custom-metrics-title">
      <div class="section-head">
        <h2 id="custom-metrics-title">Your metrics</h2>
        <p>{uncharted.length === 0 ? plural(charted.length, "metric") : `${charted.length} of ${plural(charted.length + uncharted.length, "metric")}`}</p>
      </div>
      {fault}
      <div class="charts">
        {charted.map((name) => (asked.includes(name) ? draw(name) : <Loading key={name} what="the chart" class="card loading-chart" />))}
      </div>
      <Uncharted job={job} names={uncharted} />
    </section>
  );
}
