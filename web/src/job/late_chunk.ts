// What a part of the page needs once its charts are there, or where there are none, bundled into one chunk.
export { Brush } from "./brush";
export { ChartTable, csvOf } from "./chart_table";
export { saveText } from "./save_text";
export { NoJob, NoSamples, Removed } from "./nothing";
export { listenToWheel } from "./wheel";
