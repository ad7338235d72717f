#pragma once

#include <span>
#include <string>
#include <vector>

#include "server/api/http/body.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// A rule of a list, and where it was given.
struct GivenRule {
  Json item;
  std::string pointer;  // JSON pointer, for faults
};

// The rules of the list at `pointer`. <Rule>_<parameter> of ProfilerReport becomes a parameter of
// the rule of that name, in the list or among the job's configured ones. Faults are noted: no such
// rule, or another value for the same parameter.
std::vector<GivenRule> ReadGivenRules(Body& body, const Json& list, const std::string& pointer,
                                      std::span<const RuleConfigRow> configured);

// Does that for rules that are not in a list. A rule that only gets parameters this way is put
// after the given ones.
void GiveToOthers(Body& body, std::span<const RuleConfigRow> configured,
                  std::vector<GivenRule>& rules);

// Whether a list names nothing but ProfilerReport, and gives it parameters of other rules.
bool IsOfOthersAlone(const Json& list);

// "LowGPUUtilization, CPUBottleneck, ...": every rule that can be chosen.
std::string RulesThereAre();

}  // namespace stepscope
