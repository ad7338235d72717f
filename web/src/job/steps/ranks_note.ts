import type { Steps } from "../../model";

// How many of the ranks were read, where that is not all.
export function ranksNote({ ranks, left_out }: Steps): string {
  return left_out > 0 ? `${ranks.length} of ${ranks.length + left_out} ranks read` : "";
}
