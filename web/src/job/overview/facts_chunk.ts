// The parts of the overview below its charts, bundled into one chunk.
export { Facts } from "./facts";
export { Issues } from "./issues";
export { Remove } from "./remove";
