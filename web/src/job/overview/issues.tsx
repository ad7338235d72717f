import { plural } from "../../format";
import type { Job } from "../../model";
import { RuleState } from "../../status";
import { tabLink } from "../head";
import { countedOf, headline, rankOf } from "../rules/order";

// The rules in short: those that found issues in a line each, and how many did not. The part Rules has all of them.

const kMost = 4;

export function Issues({ job }: { readonly job: Job }) {
  const rules = countedOf(job.profiler_rule_evaluation_statuses);
  const trouble = rules.filter((rule) => rankOf(rule) < 3).sort((a, b) => rankOf(a) - rankOf(b));
  return (
    <section class="card rules" aria-labelledby="rules-title">
      <div class="section-head">
        <h2 id="rules-title">Rules</h2>
        <p>{rules.length === 0 ? "No rule judges this job. Rules are chosen when a job is created." : headline(rules, job.verdict)}</p>
        {rules.length === 0 ? null : <a href={tabLink(job.name, "rules")}>All {plural(rules.length, "rule")}</a>}
      </div>
      {trouble.length === 0 ? null : (
        <ul>
          {trouble.slice(0, kMost).map((rule) => (
            <li key={rule.rule_configuration_name} class="issue">
              <RuleState rule={rule} />
              <p>
                <a href={tabLink(job.name, "rules", rule.rule_configuration_name)}>{rule.rule_configuration_name}</a>: {rule.verdict?.sentence || rule.status_details}
              </p>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
