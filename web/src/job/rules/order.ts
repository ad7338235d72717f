import { count, plural } from "../../format";
import type { JobVerdict, RuleEvaluation } from "../../model";
import { isUnknown, kReport } from "../../status";

// The order of rules: issues first, then errors, rules in progress, rules without issues, rules not judged.

export function rankOf(rule: RuleEvaluation): number {
  const status = rule.rule_evaluation_status;
  if (status === "IssuesFound") return rule.active ? 0 : 1;
  if (status === "Error") return 2;
  if (isUnknown(rule)) return 5;
  return status === "NoIssuesFound" ? 4 : 3;
}

/** The rules without ProfilerReport, which sums up the others and is shown as the diagnosis. */
export const countedOf = (rules: readonly RuleEvaluation[]) => rules.filter((rule) => rule.rule !== kReport);

export function headline(rules: readonly RuleEvaluation[], verdict: JobVerdict): string {
  const found = rules.filter((rule) => rankOf(rule) < 2).length;
  const broken = rules.filter((rule) => rankOf(rule) === 2).length;
  const open = rules.filter((rule) => rankOf(rule) === 5).length;
  if (verdict === "unknown" && broken === 0) return `Not judged: too little was seen · ${count(open)} of ${plural(rules.length, "rule")} not judged`;
  const parts = [found === 0 ? `None of ${plural(rules.length, "rule")} found an issue` : `${count(found)} of ${plural(rules.length, "rule")} found issues`];
  if (broken > 0) parts.push(`${count(broken)} failed`);
  if (open > 0) parts.push(`${count(open)} not judged`);
  return parts.join(" · ");
}
