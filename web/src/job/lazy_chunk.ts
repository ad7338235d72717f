// The parts of the page below its charts, bundled into one chunk.
export { Annotations } from "./annotations";
export { ChartTable, csvOf } from "./chart_table";
export { CustomMetrics } from "./custom_metrics";
export { Facts } from "./facts";
export { Histogram } from "./histogram";
export { Remove } from "./remove";
export { Tune } from "./tune";
