// What of a rank's steps comes behind the charts, as one file.
export { Annotations } from "./annotations";
export { Histogram } from "./histogram";
