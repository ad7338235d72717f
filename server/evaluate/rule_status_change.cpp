#include "server/evaluate/rule_status_change.h"

namespace stepscope {
namespace {

// describe-job shows at most this much.
constexpr std::size_t kMostDetails = 1024;

}  // namespace

RuleStatus KeptStatus(const RuleType& rule, RuleStatus before, bool last) {
  const bool follows = rule.sums_up || (rule.ends_as_the_whole && last);
  return follows ? RuleStatus::kInProgress : before;
}

RuleStatusChange StatusChangeOf(RuleStatus before, const Verdict& verdict, JobStatus job, bool last,
                                Time job_end, Time now) {
  RuleStatusChange change{RuleStatus::kInProgress, verdict.sentence, now};
  const bool unknown = verdict.kind == VerdictKind::kUnknown;
  if (before == RuleStatus::kIssuesFound || verdict.kind == VerdictKind::kFinding) {
    change.status = RuleStatus::kIssuesFound;
    change.at = verdict.fired.value_or(now);
  } else if (last) {
    change.status = job == JobStatus::kStopped ? RuleStatus::kStopped : RuleStatus::kNoIssuesFound;
    change.at = job_end;
    if (unknown) change.details = "not judged: " + verdict.sentence;
  } else if (job == JobStatus::kStopping || job == JobStatus::kStopped) {  // not all was seen yet
    change.status = RuleStatus::kStopping;
  }
  if (change.details.size() > kMostDetails) change.details.resize(kMostDetails);
  return change;
}

Json ToJson(const Verdict& verdict, const std::string& details) {
  const bool severe = verdict.severity != Severity::kNone;
  return {{"kind", ToText(verdict.kind)},
          {"sentence", verdict.sentence},
          {"status_details", details},
          {"share", verdict.share},
          {"severity", severe ? Json(ToText(verdict.severity)) : Json()},
          {"active", verdict.active},
          {"evidence", verdict.evidence}};
}

}  // namespace stepscope
