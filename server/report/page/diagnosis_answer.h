#pragma once

#include <span>

#include "core/base/json.h"
#include "server/store/jobs/job_list.h"
#include "server/store/jobs/jobs.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// The rule of a job that sums up the others; null when the job was not given it.
const RuleStateRow* FindReport(std::span<const RuleStateRow> states);

// Whether the rules of a job found something, as the list of jobs has it.
JobVerdict VerdictOf(std::span<const RuleStateRow> states);

// The time by cause, with the rules that support each cause. `transitions` are the transitions of
// the job and all its rules, by time.
OrderedJson WholeDiagnosis(const JobRow& job, std::span<const RuleStateRow> states,
                           std::span<const TransitionRow> transitions);

// The time by cause, as describe-job shows it: null while there is nothing to divide up.
OrderedJson DiagnosisInShort(const JobRow& job, std::span<const RuleStateRow> states);

}  // namespace stepscope
