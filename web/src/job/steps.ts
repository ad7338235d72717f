// What comes behind the charts, as one file.
export { Annotations } from "./annotations";
export { Histogram } from "./histogram";
export { Remove } from "./remove";
