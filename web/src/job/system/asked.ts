// What System asks for, which is known before its page is loaded.
export { nodeAsked } from "./devices";
export { systemRows } from "./rows";
