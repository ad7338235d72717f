// What comes behind the charts, as one file.
export { Annotations } from "./annotations";
export { ChartTable, csvOf } from "./chart_table";
export { CustomMetrics } from "./custom_metrics";
export { Facts } from "./facts";
export { Histogram } from "./histogram";
export { Remove } from "./remove";
export { Tune } from "./tune";
