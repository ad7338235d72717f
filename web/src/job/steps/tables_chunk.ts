// The tables below the charts of the steps, bundled into one chunk that comes after them.
export { Annotations } from "./annotations";
export { PhaseTable } from "./phase_table";
