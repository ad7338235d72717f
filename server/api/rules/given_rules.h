#pragma once

#include <span>
#include <string>
#include <vector>

#include "server/api/http/body.h"
#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"
#include "server/store/rules/rule_changes.h"

namespace stepscope {

// The rules that bodies name, checked in one way for new jobs, for changes and for previews. Faults
// are noted in the body; a rule that is faulty is of no use.

inline constexpr std::size_t kMostRules = 64;  // of a job

// The whole list of a new job. One that gives ProfilerReport parameters of other rules and names
// none of these chooses no rules: it changes the default ones.
std::vector<NewJob::Rule> ReadRules(Body& body, const Json& configuration,
                                    const std::vector<NewJob::Rule>& default_rules);

// What a job that names no rules is judged by: every rule of the catalog with its defaults.
std::vector<NewJob::Rule> DefaultRules();

// The same where the service was started with a list of changes of them, as PATCH takes it. Invalid
// names the first fault and its pointer in the list, or in the text where that is no JSON.
Result<std::vector<NewJob::Rule>> ReadDefaultRules(const std::string& json);

// One rule of a job where these stand: parameters that are not given stay as they are, or are the
// defaults of a rule that the job does not have yet; null is the default again.
NewJob::Rule ReadRule(Body& body, const Json& given, const std::string& pointer,
                      std::span<const RuleConfigRow> configured);

// The rule that a whole body is, behind it those of the job that are changed with it:
// ProfilerReport is given parameters of others.
std::vector<NewJob::Rule> ReadRuleWithOthers(Body& body, std::span<const RuleConfigRow> configured);

// The list of a change: rules to put, and to remove ("remove": true). Others stay.
RuleChanges ReadRuleChanges(Body& body, const Json& configuration,
                            std::span<const RuleConfigRow> configured);

// As a job's configuration shows them.
Json ToJson(std::span<const NewJob::Rule> rules);

}  // namespace stepscope
