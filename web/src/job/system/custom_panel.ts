import type { JudgedRule, Metrics } from "../../model";
import { nameOf } from "../devices";
import { binOf, customThreshold, kNoSamples, type Panel, seriesOf, spread } from "../panels";

/** The chart of a custom metric, whose name is "user." and a title. */
export function customMetricPanel(metric: string, metrics: Metrics, rules: readonly JudgedRule[]): Panel {
  const found = seriesOf(metrics.series, metric);
  return {
    id: metric, title: metric.slice(5), note: metric, unit: "",
    traces: spread(found, found[0]?.node ? nameOf(found[0]) : "Value", "series"),
    threshold: customThreshold(rules, metric), sparse: true, free: true, pointOf: binOf(metrics), empty: kNoSamples,
  };
}
