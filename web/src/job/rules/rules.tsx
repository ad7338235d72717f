import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { plural, share } from "../../format";
import type { Finding, RuleEvaluation, RuleType } from "../../model";
import { valueOf } from "../../query";
import { search } from "../../router";
import { isUnknown, RuleState } from "../../status";
import type { View } from "../frame";
import { useWatched } from "../head";
import { Firings } from "./firings";
import { countedOf, headline, rankOf } from "./order";
import type { Findings } from "./page";

// The verdicts of the rules: issues first, then errors, rules in progress, rules without issues, rules not judged.

/** The rule whose form is open. */
export const tunedRule = signal<string | null>(null);

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
  if (rule.share) notes.push(`in ${share(rule.share)} of the time that it could judge`);
  if (rule.severity) notes.push(`${rule.severity} severity`);
  if (rule.active !== null) notes.push(!rule.active ? "no longer active" : ended ? "to the end" : "still active");
  return notes;
}

interface RuleProps {
  readonly rule: RuleEvaluation;
  readonly view: View;
  /** The stretches of time in which it fired; null until they are known. */
  readonly found: readonly Finding[] | null;
  readonly type: RuleType | undefined;
  readonly chosen: boolean;
  /** Whether it is shown with what it found. */
  readonly open: boolean;
}

/** The row that the link names comes into view once. */
function useChosen(chosen: boolean) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => void (chosen && row.current?.scrollIntoView({ block: "center" })), [chosen]);
  return row;
}

function Rule({ rule, view, found, type, chosen, open }: RuleProps) {
  const notes = open ? notesOf(rule, view.job.ended_us !== null) : [];
  const details = open || rankOf(rule) >= 3 ? detailsOf(rule) : null;
  const named = rule.rule_configuration_name === rule.rule ? null : rule.rule;
  const issue = open && rule.rule_evaluation_status === "IssuesFound";
  const row = useChosen(chosen);
  return (
    <li ref={row} class={`rule${isUnknown(rule) ? " rule-unknown" : ""}${chosen ? " rule-chosen" : ""}`}>
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
        {issue && type?.advice ? <p class="rule-advice"><b>What to do:</b> {type.advice}</p> : null}
        {issue && type?.fires ? <p class="rule-notes">Fires when: {type.fires}</p> : null}
        {open && found !== null && found.length > 0 ? <Firings found={found} view={view} name={rule.rule_configuration_name} /> : null}
      </div>
      <button type="button" aria-label={`Parameters of ${rule.rule_configuration_name}`} onClick={() => (tunedRule.value = rule.rule_configuration_name)}>
        Parameters
      </button>
    </li>
  );
}

type Ranks = ReadonlyMap<string, number>;

interface RulesProps {
  readonly view: View;
  readonly findings: Findings | null;
  readonly catalog: ReadonlyMap<string, RuleType>;
}

function List({ rules, ranks, view, findings, catalog }: { readonly rules: readonly RuleEvaluation[]; readonly ranks: Ranks } & RulesProps) {
  const chosen = valueOf(search.value, "show");
  return (
    <ul>
      {rules.map((rule) => (
        <Rule
          key={rule.rule_configuration_name}
          rule={rule}
          view={view}
          type={catalog.get(rule.rule)}
          found={findings && findings.items.filter((each) => each.rule_configuration_name === rule.rule_configuration_name)}
          chosen={chosen === rule.rule_configuration_name}
          open={placeOf(rule, ranks) < 3}
        />
      ))}
    </ul>
  );
}

/** The rank by which a rule has its place: the one that it had when the rules were sorted. */
const placeOf = (rule: RuleEvaluation, ranks: Ranks) => ranks.get(rule.rule_configuration_name) ?? rankOf(rule);

const ranksOf = (rules: readonly RuleEvaluation[]): Ranks => new Map(rules.map((rule) => [rule.rule_configuration_name, rankOf(rule)]));

export function Rules(props: RulesProps) {
  const { view, findings } = props;
  const counted = countedOf(view.job.profiler_rule_evaluation_statuses);
  const watched = useWatched(view.job);
  // Verdicts come while somebody reads: no rule moves or grows before the reader wants it.
  const [ranks, setRanks] = useState(() => ranksOf(counted));
  const rules = [...counted].sort((a, b) => placeOf(a, ranks) - placeOf(b, ranks));
  const moved = rules.filter((rule) => placeOf(rule, ranks) !== rankOf(rule)).length;
  const judged = rules.filter((rule) => placeOf(rule, ranks) < 5);
  const open = rules.slice(judged.length);
  const chosen = valueOf(search.value, "show");
  return (
    <section class={`card rules${watched ? " rules-live" : ""}`} aria-labelledby="rules-title">
      <div class="section-head">
        <h2 id="rules-title">Rules</h2>
        {rules.length === 0 ? null : <p>{headline(rules, view.job.verdict)}</p>}
        {findings !== null && findings.total > findings.items.length ? <p>The times of {findings.items.length} of {plural(findings.total, "finding")} are shown.</p> : null}
      </div>
      {rules.length === 0 ? (
        <p class="faint">No rule judges this job. Rules are chosen when a job is created.</p>
      ) : (
        <>
          {moved > 0 || watched ? (
            <p class="rules-moved" role="status">
              {moved === 0 ? null : (
                <button type="button" onClick={() => setRanks(ranksOf(counted))}>
                  {plural(moved, "rule")} changed: sort again
                </button>
              )}
            </p>
          ) : null}
          <List rules={judged} ranks={ranks} {...props} />
          {open.length === 0 ? null : (
            <details open={judged.length === 0 || open.some((rule) => rule.rule_configuration_name === chosen)}>
              <summary>{plural(open.length, "rule")} not judged</summary>
              <List rules={open} ranks={ranks} {...props} />
            </details>
          )}
        </>
      )}
    </section>
  );
}
