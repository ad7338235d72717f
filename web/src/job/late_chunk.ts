// What a part of the page needs once its charts are there, or where there are none, bundled into one chunk.
export { Brush } from "./brush";
export { ChartTable } from "./chart_table";
export { NodeUsage } from "./usage";
export { LayoutChoice } from "./layout";
export { ChartMenu } from "./menu/chart_menu";
export { CopyLink } from "./menu/copy_link";
export { NoJob, NoSamples, Removed } from "./nothing";
export { listenToWheel } from "./wheel";
