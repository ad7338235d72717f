#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// Facts of a job, a node or a rank as texts for people, by names for people: "node: memory" is
// "503 GiB".
using Facts = std::map<std::string, std::string>;

// A fact in words: equal parts of a list are counted ("8 x NVIDIA A100, memory 80.0 GiB"), the unit
// comes from the end of the key, and what only names one device of a machine is left out.
std::string FactWords(std::string_view key, const Json& value);

// Puts each member of an object, its name after `of`. Members of `tags` are facts of their own.
void PutFacts(std::string_view of, const Json& object, Facts& facts);

// The parameters of all rules of a job: "rule Straggler: ratio".
Facts ParametersOf(const std::vector<RuleStateRow>& rules);

}  // namespace stepscope
