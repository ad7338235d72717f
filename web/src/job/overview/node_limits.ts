import { bytes, count, kNothing, number } from "../../format";
import type { JobNode } from "../../model";

// What a job may use of a node, as a container's quota or the cores it is bound to leave it, with the node's own beside it.

/** A fact of the node that is a number above 0, else nothing that bounds. */
function bound(node: JobNode, name: string): number {
  const value = node.facts[name];
  return typeof value === "number" && value > 0 ? value : Infinity;
}

function within(usable: number, whole: number | null, words: (value: number) => string): string {
  if (whole === null) return kNothing;
  return usable < whole ? `${words(usable)} of ${words(whole)}` : words(whole);
}

/** Cores: "8", or "0.5 of 8" where the job may use no more. */
export function coresOf(node: JobNode): string {
  return within(Math.min(bound(node, "cores_allowed"), bound(node, "cpu_quota")), node.cores, (value) => (Number.isInteger(value) ? count(value) : number(value)));
}

/** Memory, likewise. */
export function memoryOf(node: JobNode): string {
  return within(bound(node, "memory_allowed_bytes"), node.memory_bytes, bytes);
}
