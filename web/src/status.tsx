import { Icon, type IconName } from "./icons";
import type { JobStatus, RuleEvaluation, RuleStatus } from "./model";

// Status: icon, word and colour, in this order of importance.

type Tone = "blue" | "green" | "red" | "amber" | "grey";
export interface Look {
  readonly icon: IconName;
  readonly tone: Tone;
}

const kJobLooks: Readonly<Record<JobStatus, Look>> = {
  InProgress: { icon: "dot", tone: "blue" },
  Completed: { icon: "check", tone: "green" },
  Failed: { icon: "cross", tone: "red" },
  Stopping: { icon: "half", tone: "grey" },
  Stopped: { icon: "square", tone: "grey" },
};

const kRuleLooks: Readonly<Record<RuleStatus, Look>> = {
  InProgress: { icon: "wait", tone: "grey" },
  NoIssuesFound: { icon: "check", tone: "green" },
  IssuesFound: { icon: "bang", tone: "amber" },
  Error: { icon: "cross", tone: "red" },
  Stopping: { icon: "half", tone: "grey" },
  Stopped: { icon: "square", tone: "grey" },
};

/** The rule that sums up the others: it is not counted beside them. */
export const kReport = "ProfilerReport";

export const kGreyLook: Look = { icon: "dash", tone: "grey" };

export function Status({ look, word, more }: { look: Look; word: string; more?: string | null }) {
  return (
    <span class={`status tone-${look.tone}`}>
      <Icon name={look.icon} />
      <span>{word}</span>
      {more ? <span class="status-more">({more})</span> : null}
    </span>
  );
}

/** The secondary status is left out where it only repeats the first. */
export function JobState({ status, secondary }: { status: JobStatus; secondary?: string | null }) {
  const more = secondary === status ? null : secondary;
  return <Status look={kJobLooks[status] ?? kGreyLook} word={status} more={more} />;
}

/** Not judged: shown grey, whatever the status says, never as if all were well. */
export function isUnknown(rule: RuleEvaluation): boolean {
  return rule.verdict?.kind === "unknown" || rule.verdict === null;
}

export function RuleWord({ status, unknown }: { readonly status: RuleStatus; readonly unknown: boolean }) {
  const look = unknown && status === "NoIssuesFound" ? kGreyLook : kRuleLooks[status];
  return <Status look={look ?? kGreyLook} word={status} />;
}

export function RuleState({ rule }: { readonly rule: RuleEvaluation }) {
  return <RuleWord status={rule.rule_evaluation_status} unknown={isUnknown(rule)} />;
}
