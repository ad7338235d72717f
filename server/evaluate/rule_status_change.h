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

// `last`: the job ended and everything of it was seen, until `job_end`. A rule that fired stays
// IssuesFound; one that could not judge says so at the end.
RuleStatusChange StandingOf(RuleStatus before, const Verdict& verdict, JobStatus job, bool last,
                            Time job_end, Time now);

// As it is stored and shown: kind, sentence, status_details, share, severity, active, evidence.
Json ToJson(const Verdict& verdict, const std::string& details);

}  // namespace stepscope
