import { withKeys } from "../query";
import { search } from "../router";
import { tabPath } from "../tabs";
import type { By, Fleet } from "./calls";

// What a row of the fleet is called, and where it leads.

/** A job leads to its page, everything else to its own jobs. */
export function linkOf(by: By, key: string): string {
  return by === "job" ? tabPath(key, "overview") : `/fleet${withKeys(search.value, { [by]: key, by: "job" })}`;
}

const kNobody: Partial<Record<By, string>> = { gpu: "no GPU", cause: "nothing lost, or not judged" };

export function nameOf({ by, causes }: Pick<Fleet, "by" | "causes">, key: string | null): string {
  if (key === null) return kNobody[by] ?? "not known";
  if (by !== "cause") return key;
  return key === "unknown" ? "cause not known" : (causes.find(({ cause }) => cause === key)?.words ?? key.replaceAll("_", " "));
}
