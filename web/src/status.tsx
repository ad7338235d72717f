import { Icon, type IconName } from "./icons";
import type { JobStatus, RuleEvaluation, RuleStatus } from "./model";

// Status: icon, word and colour, in this order of importance.

type Tone = "blue" | "green" | "red" | "amber" | "grey";
export interface StatusStyle {
  readonly icon: IconName;
  readonly tone: Tone;
}

const kJobStyles: Readonly<Record<JobStatus, StatusStyle>> = {
  InProgress: { icon: "dot", tone: "blue" },
  Completed: { icon: "check", tone: "green" },
  Failed: { icon: "cross", tone: "red" },
  Stopping: { icon: "half", tone: "grey" },
  Stopped: { icon: "square", tone: "grey" },
};

const kRuleStyles: Readonly<Record<RuleStatus, StatusStyle>> = {
  InProgress: { icon: "wait", tone: "grey" },
  NoIssuesFound: { icon: "check", tone: "green" },
  IssuesFound: { icon: "bang", tone: "amber" },
  Error: { icon: "cross", tone: "red" },
  Stopping: { icon: "half", tone: "grey" },
  Stopped: { icon: "square", tone: "grey" },
};

/** The rule that sums up the others: it is not counted beside them. */
export const kReport = "ProfilerReport";

export const kGreyStyle: StatusStyle = { icon: "dash", tone: "grey" };

export function Status({ style, word, more }: { style: StatusStyle; word: string; more?: string | null }) {
  return (
    <span class={`status tone-${style.tone}`}>
      <Icon name={style.icon} />
      <span>{word}</span>
      {more ? <span class="status-more">({more})</span> : null}
    </span>
  );
}

const kSentLaterUs = 600e6; // clocks of nodes may be off by less

/** Whether a job was sent after it had run, as a recording that is replayed or imported: it was created, and its status changed, when it was sent. */
export const isSentLater = ({ created_us, started_us }: { readonly created_us: number; readonly started_us: number | null }): boolean => started_us !== null && created_us - started_us > kSentLaterUs;

/** The secondary status is left out where it only repeats the first. */
export function JobState({ status, secondary }: { status: JobStatus; secondary?: string | null }) {
  const more = secondary === status ? null : secondary;
  return <Status style={kJobStyles[status] ?? kGreyStyle} word={status} more={more} />;
}

/** Whether the rule was not judged. Such a rule is shown grey, whatever its status, never as if all were well. */
export function isUnknown(rule: RuleEvaluation): boolean {
  return rule.verdict?.kind === "unknown" || rule.verdict === null;
}

export function RuleWord({ status, unknown }: { readonly status: RuleStatus; readonly unknown: boolean }) {
  const style = unknown && status === "NoIssuesFound" ? kGreyStyle : kRuleStyles[status];
  return <Status style={style ?? kGreyStyle} word={status} />;
}

export function RuleState({ rule }: { readonly rule: RuleEvaluation }) {
  return <RuleWord status={rule.rule_evaluation_status} unknown={isUnknown(rule)} />;
}
