import { address, ask } from "./api";
import type { RuleType } from "./model";

/** The catalog of rules. */
export async function listRules(stop: AbortSignal): Promise<readonly RuleType[]> {
  return (await ask<{ items: readonly RuleType[] }>(address("/rules"), "items", { stop })).items;
}
