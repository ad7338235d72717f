#pragma once

#include <span>
#include <string>
#include <vector>

#include "server/api/http/body.h"
#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"
#include "server/store/rules/rule_changes.h"

namespace stepscope {

// Rules in bodies, checked in one way for new jobs, for changes and for previews. Faults are noted
// in the body; a faulty rule is of no use.

inline constexpr std::size_t kMostRules = 64;  // a job's

// The whole list of a new job. A list that only gives ProfilerReport parameters of other rules
// chooses no rules: it changes the default ones.
std::vector<NewJob::Rule> ReadRules(Body& body, const Json& configuration,
                                    const std::vector<NewJob::Rule>& default_rules);

// The rules of a job that names none: every rule of the catalog with its defaults.
std::vector<NewJob::Rule> DefaultRules();

// The default rules, changed by a list that the service was started with, as PATCH takes it.
// Invalid names the first fault and its pointer in the list, or its position in text that is no
// JSON.
Result<std::vector<NewJob::Rule>> ReadDefaultRules(const std::string& json);

// A rule for a job with the configured ones: parameters that are not given stay as they are, or are
// the defaults of a rule that the job does not have yet; null is the default again.
NewJob::Rule ReadRule(Body& body, const Json& given, const std::string& pointer,
                      std::span<const RuleConfigRow> configured);

// The rule in a body that is one rule, followed by the job's rules that change with it, because
// ProfilerReport is given parameters of them.
std::vector<NewJob::Rule> ReadRuleWithOthers(Body& body, std::span<const RuleConfigRow> configured);

// The list of a change: rules to put, and to remove ("remove": true). Others stay.
RuleChanges ReadRuleChanges(Body& body, const Json& configuration,
                            std::span<const RuleConfigRow> configured);

// The rules as a job's configuration shows them.
Json ToJson(std::span<const NewJob::Rule> rules);

}  // namespace stepscope
