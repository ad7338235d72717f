#pragma once

#include <span>
#include <string>
#include <vector>

#include "server/api/http/body.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// One rule of a list, and where it was given.
struct GivenRule {
  Json item;
  std::string pointer;  // JSON pointer, for faults
};

// The rules of a list that stands at `pointer`. What ProfilerReport is given as <Rule>_<parameter>
// is a parameter of the rule of that name: of the list, or of the job where these stand. Faults are
// noted: no such rule, or another value for the same parameter.
std::vector<GivenRule> ReadGivenRules(Body& body, const Json& list, const std::string& pointer,
                                      std::span<const RuleConfigRow> configured);

// The same of rules that are not in a list. A rule that is given parameters by others only is put
// behind those that were there.
void GiveToOthers(Body& body, std::span<const RuleConfigRow> configured,
                  std::vector<GivenRule>& rules);

// Whether a list names nothing but ProfilerReport, and gives it parameters of other rules.
bool IsOfOthersAlone(const Json& list);

// "LowGPUUtilization, CPUBottleneck, ...": every rule that can be chosen.
std::string RulesThereAre();

}  // namespace stepscope
