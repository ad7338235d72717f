import { count, plural, share } from "../format";
import type { Job, JobVerdict, RuleEvaluation } from "../model";
import { isUnknown, kReport, RuleState } from "../status";
import { loadLazyParts, tunedRule } from "./lazy_parts";

// The verdicts of the rules: issues first, then errors, rules in progress, rules without issues, rules not judged.

export function rankOf(rule: RuleEvaluation): number {
  const status = rule.rule_evaluation_status;
  if (status === "IssuesFound") return rule.active ? 0 : 1;
  if (status === "Error") return 2;
  if (isUnknown(rule)) return 5;
  return status === "NoIssuesFound" ? 4 : 3;
}

function sentenceOf(rule: RuleEvaluation): string {
  return rule.verdict?.sentence || rule.status_details || "Not evaluated yet.";
}

/** The details of the rule's status, where they say more than the verdict. */
function detailsOf(rule: RuleEvaluation): string | null {
  const details = rule.status_details;
  if (!details || details.includes(sentenceOf(rule))) return null;
  return details;
}

function notesOf(rule: RuleEvaluation, ended: boolean): readonly string[] {
  if (rule.rule_evaluation_status !== "IssuesFound") return [];
  const notes: string[] = [];
  if (rule.share) notes.push(`in ${share(rule.share)} of the judged time`);
  if (rule.severity) notes.push(`${rule.severity} severity`);
  if (rule.active !== null) notes.push(!rule.active ? "no longer active" : ended ? "to the end" : "still active");
  return notes;
}

function tune(rule: RuleEvaluation): void {
  loadLazyParts();
  tunedRule.value = rule.rule_configuration_name;
}

function Rule({ rule, ended }: { readonly rule: RuleEvaluation; readonly ended: boolean }) {
  const notes = notesOf(rule, ended);
  const details = detailsOf(rule);
  const named = rule.rule_configuration_name === rule.rule ? null : rule.rule;
  return (
    <li class={`rule${isUnknown(rule) ? " rule-unknown" : ""}`}>
      <RuleState rule={rule} />
      <div class="rule-words">
        <h3>
          {rule.rule_configuration_name}
          {named === null ? null : <span class="rule-type"> ({named})</span>}
        </h3>
        <p>
          {isUnknown(rule) ? <span class="rule-open">Not judged: </span> : null}
          {sentenceOf(rule)}
        </p>
        {details === null ? null : <p class="rule-details">{details}</p>}
        {notes.length === 0 ? null : <p class="rule-notes">{notes.join(" · ")}</p>}
      </div>
      <button type="button" aria-label={`Parameters of ${rule.rule_configuration_name}`} onClick={() => tune(rule)}>
        Parameters
      </button>
    </li>
  );
}

/** The rules without ProfilerReport, which sums up the others and is shown as the diagnosis. */
export const countedOf = (rules: readonly RuleEvaluation[]) => rules.filter((rule) => rule.rule !== kReport);

function headline(rules: readonly RuleEvaluation[], verdict: JobVerdict): string {
  const found = rules.filter((rule) => rankOf(rule) < 2).length;
  const broken = rules.filter((rule) => rankOf(rule) === 2).length;
  const open = rules.filter((rule) => rankOf(rule) === 5).length;
  if (verdict === "unknown" && broken === 0) return `Not judged: too little was seen · ${count(open)} of ${plural(rules.length, "rule")} not judged`;
  const parts = [found === 0 ? `None of ${plural(rules.length, "rule")} found an issue` : `${count(found)} of ${plural(rules.length, "rule")} found issues`];
  if (broken > 0) parts.push(`${count(broken)} failed`);
  if (open > 0) parts.push(`${count(open)} not judged`);
  return parts.join(" · ");
}

function List({ rules, ended }: { readonly rules: readonly RuleEvaluation[]; readonly ended: boolean }) {
  return (
    <ul>
      {rules.map((rule) => (
        <Rule key={rule.rule_configuration_name} rule={rule} ended={ended} />
      ))}
    </ul>
  );
}

export function Rules({ job }: { readonly job: Job }) {
  const rules = [...countedOf(job.profiler_rule_evaluation_statuses)].sort((a, b) => rankOf(a) - rankOf(b));
  const judged = rules.filter((rule) => rankOf(rule) < 5);
  const open = rules.slice(judged.length);
  const ended = job.ended_us !== null;
  return (
    <section class="card rules" aria-labelledby="rules-title">
      <div class="section-head">
        <h2 id="rules-title">Rules</h2>
        {rules.length === 0 ? null : <p>{headline(rules, job.verdict)}</p>}
      </div>
      {rules.length === 0 ? (
        <p class="faint">No rule judges this job. Rules are chosen when a job is created.</p>
      ) : (
        <>
          <List rules={judged} ended={ended} />
          {open.length === 0 ? null : (
            <details open={judged.length === 0}>
              <summary>{plural(open.length, "rule")} not judged</summary>
              <List rules={open} ended={ended} />
            </details>
          )}
        </>
      )}
    </section>
  );
}
