// The parts of the overview below its charts, bundled into one chunk.
export { Facts } from "./facts";
export { Remove } from "./remove";
