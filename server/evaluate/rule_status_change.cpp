#include "server/evaluate/rule_status_change.h"

namespace stepscope {
namespace {

// describe-job shows at most this much.
constexpr std::size_t kMostDetails = 1024;

}  // namespace

RuleStatusChange StandingOf(RuleStatus before, const Verdict& verdict, JobStatus job, bool last,
                            Time job_end, Time now) {
  RuleStatusChange standing{RuleStatus::kInProgress, verdict.sentence, now};
  const bool unknown = verdict.kind == VerdictKind::kUnknown;
  if (before == RuleStatus::kIssuesFound || verdict.kind == VerdictKind::kFinding) {
    standing.status = RuleStatus::kIssuesFound;
    standing.at = verdict.fired.value_or(now);
  } else if (last) {
    standing.status =
        job == JobStatus::kStopped ? RuleStatus::kStopped : RuleStatus::kNoIssuesFound;
    standing.at = job_end;
    if (unknown) standing.details = "not judged: " + verdict.sentence;
  } else if (job == JobStatus::kStopping || job == JobStatus::kStopped) {  // not all was seen yet
    standing.status = RuleStatus::kStopping;
  }
  if (standing.details.size() > kMostDetails) standing.details.resize(kMostDetails);
  return standing;
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
