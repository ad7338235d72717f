#pragma once

#include <span>

#include "core/base/json.h"
#include "server/store/jobs/jobs.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// A rule's status and verdict, as describe-job and /rules show it. `transitions` are the
// transitions of the job and all its rules, by time.
OrderedJson ToJson(const RuleStateRow& state, std::span<const TransitionRow> transitions);

// A rule's status and verdict with parameters, evidence and the time of the last evaluation, as
// /jobs/{name}/rules has it.
OrderedJson WholeRule(const RuleStateRow& state, std::span<const TransitionRow> transitions);

// A stretch of time in which a rule fired, as /jobs/{name}/findings has it.
OrderedJson ToJson(const FindingRow& finding);

}  // namespace stepscope
