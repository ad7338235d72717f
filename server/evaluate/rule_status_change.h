#pragma once

#include <cstdint>
#include <string>

#include "core/base/json.h"
#include "core/model/status.h"
#include "rules/engine/rule.h"

namespace stepscope {

// The status that describe-job shows of a rule, with its sentence and the time of the change.
struct RuleStatusChange {
  RuleStatus status = RuleStatus::kInProgress;
  std::string details;
  Time at{};
};

// The status that a verdict may keep. A rule that sums up others has its own only as long as they
// have theirs, and one that judges the job as a whole until the end of it.
RuleStatus KeptStatus(const RuleType& rule, RuleStatus before, bool last);

// `last` means that the job ended and all its data was seen, until `job_end`. A rule that fired
// stays IssuesFound; a rule that could not judge says so at the end.
RuleStatusChange StatusChangeOf(RuleStatus before, const Verdict& verdict, JobStatus job, bool last,
                                Time job_end, Time now);

// The verdict as it is stored and shown: kind, sentence, status_details, share, severity, active,
// evidence.
Json ToJson(const Verdict& verdict, const std::string& details);

}  // namespace stepscope
